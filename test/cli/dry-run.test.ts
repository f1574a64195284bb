// @module-tag full
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { daemonHere } from './baton-here.ts';
import {
  addIssue,
  answer,
  labelled,
  labelledWorkflow,
  letEnd,
  liveTest,
  runsOf,
  untilDone,
  untilStatus,
} from './live-daemon.ts';
import { baton, leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

function givenPlace(): Place {
  const place = new Place();
  place.write('WORKFLOW.md', labelledWorkflow(2));
  return place;
}

interface Planned {
  readonly issue_identifier: string;
  readonly starts: boolean;
  readonly code: string | null;
  readonly reason: string | null;
}

async function planOf(place: Place, ...args: string[]): Promise<Planned[]> {
  const { plan } = await answer(place, 'start', '--dry-run', ...args);
  return plan;
}

const short = (plan: readonly Planned[]): string[] =>
  plan.map(({ issue_identifier, code }) => `${issue_identifier} ${code ?? 'starts'}`);

describe.concurrent('baton start --dry-run', liveTest, () => {
  it('reports what baton validate reports: a warning, and a template that cannot render', async () => {
    using place = new Place();
    const text = labelledWorkflow(2);
    place.write('WORKFLOW.md', text.replace('---\n', '---\nagnt: {}\n'));
    const warned = await baton(place, 'start', '--dry-run');
    expect(warned).toMatchObject({ code: 0, stderr: expect.stringContaining('[unknown_setting]') });
    place.write('WORKFLOW.md', `${text}{{ issue.titel }}\n`);
    const refused = await baton(place, 'start', '--dry-run');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('template_render_error') });
  });

  it('prints what would start and why the rest would not, and starts nothing', async () => {
    using place = givenPlace();
    const empty = await baton(place, 'start', '--dry-run');
    expect(empty).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^.+\n$/) });
    expect(await planOf(place)).toEqual([]);
    for (const more of [[], labelled, labelled, labelled, ['--blocked-by', 'BAT-2', ...labelled], labelled])
      await addIssue(place, untilDone, ...more);
    await addIssue(place, untilDone, '--status', 'backlog', ...labelled);
    await baton(place, 'issue', 'edit', 'BAT-6', '--title', 'Six \u202e');
    const plan = await planOf(place);
    expect(short(plan)).toEqual([
      'BAT-1 missing_label',
      'BAT-2 starts',
      'BAT-3 starts',
      'BAT-4 project_full',
      'BAT-5 blocked',
      'BAT-6 project_full',
    ]);
    expect(plan[4]).toEqual({
      issue_id: expect.any(String),
      issue_identifier: 'BAT-5',
      title: 'A title',
      state: 'todo',
      starts: false,
      code: 'blocked',
      reason: expect.stringContaining('BAT-2'),
    });
    const { code, stdout, stderr } = await baton(place, 'start', '--dry-run');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [first, second, third] = stdout.split('\n');
    expect(first).toMatch(/ BAT-1 A title: .*"baton"/);
    for (const line of [second, third]) expect(line).toMatch(/ BAT-[23] A title$/);
    expect(stdout).toMatch(/ BAT-6 Six \S+: /);
    for (const steering of ['\u001b', '\u202e']) expect(stdout).not.toContain(steering);

    expect(short(await planOf(place, '--only', 'bat-4,BAT-5', '--max-runs', '1'))).toEqual([
      'BAT-1 missing_label',
      'BAT-2 not_chosen',
      'BAT-3 not_chosen',
      'BAT-4 starts',
      'BAT-5 blocked',
      'BAT-6 not_chosen',
    ]);
    expect(existsSync(path.join(place.folder, 'workspaces'))).toBe(false);
    expect(await runsOf(place)).toEqual([]);
    expect(place.pids()).toEqual([]);
  });

  it('works next to a running daemon, whose running, waiting and held issues would not start', async () => {
    using place = givenPlace();
    for (const script of [untilDone, 'exit 1', untilDone, untilDone]) await addIssue(place, script, ...labelled);
    const daemon = await daemonHere(place);
    await untilStatus(place, {
      retrying: [{ issue_identifier: 'BAT-2' }],
      running: expect.arrayContaining(
        ['BAT-1', 'BAT-3'].map((name) => expect.objectContaining({ issue_identifier: name })),
      ),
    });
    await answer(place, 'issue', 'hold', 'BAT-4');
    await addIssue(place, untilDone, ...labelled);
    expect(short(await planOf(place))).toEqual([
      'BAT-1 claimed',
      'BAT-2 claimed',
      'BAT-3 claimed',
      'BAT-4 claimed',
      'BAT-5 project_full',
    ]);
    await answer(place, 'pause', '--reason', 'lunch');
    const plan = await planOf(place);
    expect(plan.at(-1)).toMatchObject({
      issue_identifier: 'BAT-5',
      code: 'paused',
      reason: expect.stringContaining('lunch'),
    });
    expect((await runsOf(place)).map((run) => run.issue_identifier).sort()).toEqual(['BAT-1', 'BAT-2', 'BAT-3']);
    await daemon.stop();

    // What was held and paused stays so without it.
    expect(short(await planOf(place))).toEqual([
      'BAT-1 paused',
      // Its retry is kept too, until its time has come.
      expect.stringMatching(/^BAT-2 (claimed|paused)$/),
      'BAT-3 paused',
      'BAT-4 claimed',
      'BAT-5 paused',
    ]);
  });
});

describe.concurrent('a trial', liveTest, () => {
  it('is limited to the named issues and to the number of runs', async () => {
    using place = givenPlace();
    for (const _each of [1, 2, 3]) await addIssue(place, untilDone, ...labelled);
    const daemon = await daemonHere(place, '--only', 'bat-2', '--only', 'BAT-3', '--max-runs', '1');
    await untilStatus(place, {
      running: [{ issue_identifier: 'BAT-2' }],
      skipped: expect.arrayContaining(
        ['BAT-1', 'BAT-3'].map((name) => expect.objectContaining({ issue_identifier: name, code: 'not_chosen' })),
      ),
    });
    letEnd(place, 'BAT-2');
    // It would go on with the same issue, but for the bound.
    await untilStatus(place, {
      running: [],
      retrying: [{ issue_identifier: 'BAT-2', wait_code: 'not_chosen' }],
    });
    expect(await runsOf(place)).toMatchObject([{ issue_identifier: 'BAT-2', outcome: 'succeeded' }]);
    await daemon.stop();
  });
});
