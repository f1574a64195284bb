import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import type { ApiProject } from '../../src/server/api/api-project.ts';
import { fakeDaemon } from '../fake/fake-daemon.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { inStore } from './asked-question.ts';
import { batonHere, daemonHere } from './baton-here.ts';
import {
  addIssue,
  answer,
  labelled,
  labelledWorkflow,
  letEnd,
  liveTest,
  refusal,
  runsOf,
  untilDone,
  untilStatus,
} from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

function givenPlace(): Place {
  const place = new Place();
  place.write('WORKFLOW.md', labelledWorkflow(1));
  return place;
}

interface Told {
  readonly code: string | null;
  readonly next: string;
  readonly gates: readonly { readonly gate: string; readonly ok: boolean; readonly text: string }[];
}

const refusedBy = ({ gates }: Told): string[] => gates.filter(({ ok }) => !ok).map(({ gate }) => gate);

describe.concurrent('baton explain without a daemon', liveTest, () => {
  it('shows every gate from the store and the tracker, and starts nothing', async () => {
    using place = givenPlace();
    for (const more of [labelled, labelled, [], ['--blocked-by', 'BAT-1', ...labelled]])
      await addIssue(place, untilDone, ...more);
    const { code, stdout, stderr } = await batonHere(place, 'explain', 'bat-1');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toBe('BAT-1  A title  (todo)');
    expect(lines.slice(1, -2).every((line) => line.startsWith('  ok  '))).toBe(true);
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}ok {2}\D*0 \D+ 1 /));
    // That no daemon answers, and what happens next.
    for (const line of lines.slice(-2)) expect(line).toMatch(/^\S/);
    expect(await answer(place, 'explain', 'bat-1')).toMatchObject({
      daemon: false,
      starts: true,
      code: null,
      reason: null,
      next: lines.at(-1),
    });
    expect(await answer(place, 'explain', '2')).toMatchObject({
      daemon: false,
      issue_identifier: 'BAT-2',
      title: 'A title',
      state: 'todo',
      starts: false,
      code: 'project_full',
      reason: expect.stringMatching(/1 \D+ 1/),
      starts_before: 1,
    });
    const third: Told = await answer(place, 'explain', 'BAT-3');
    expect(refusedBy(third)).toEqual(['labels', 'slot']);
    const marks = (await batonHere(place, 'explain', 'BAT-3')).stdout.match(/^ {2}(?:ok|not ok)(?= {2})/gm) ?? [];
    expect(marks.slice(-3)).toEqual(['  ok', '  not ok', '  not ok']);
    expect(third).toMatchObject({ code: 'missing_label', next: expect.stringContaining('"baton"') });
    expect(await answer(place, 'explain', 'BAT-4')).toMatchObject({
      code: 'blocked',
      next: expect.stringContaining('BAT-1'),
    });
    expect(existsSync(path.join(place.folder, 'workspaces'))).toBe(false);
    expect(await runsOf(place)).toEqual([]);
    expect(place.pids()).toEqual([]);
  });

  // @conforms tick.15
  it('explains issues that are not candidates, and refuses unknown ones', async () => {
    using place = givenPlace();
    await addIssue(place, untilDone, '--status', 'backlog', ...labelled);
    await addIssue(place, untilDone, ...labelled);
    await answer(place, 'issue', 'move', 'BAT-2', 'cancelled');
    expect(await answer(place, 'explain', 'BAT-1')).toMatchObject({
      code: 'inactive_state',
      next: expect.stringContaining('"backlog"'),
    });
    expect(await answer(place, 'explain', 'bat-2')).toMatchObject({ code: 'terminal_state' });
    expect(await refusal(place, 'explain', 'BAT-9')).toMatchObject({
      code: 'tracker_issue_not_found',
      details: { nearest: ['BAT-2', 'BAT-1'] },
    });
  });

  it('shows the stored holds and the pause', async () => {
    using place = givenPlace();
    await addIssue(place, untilDone, ...labelled);
    const daemon = await daemonHere(place, '--only', 'none');
    await answer(place, 'issue', 'hold', 'BAT-1', '--reason', 'not yet');
    await answer(place, 'pause', '--reason', 'night');
    await daemon.stop();
    const told: Told = await answer(place, 'explain', 'BAT-1');
    expect(refusedBy(told)).toEqual(['free_here', 'not_paused']);
    expect(told).toMatchObject({ code: 'claimed', next: expect.stringMatching(/not yet.*baton issue retry BAT-1/) });
  });

  it('does not treat the daemon that was killed here as another one', async () => {
    using place = givenPlace();
    await addIssue(place, untilDone, ...labelled);
    const { issue_id: issueId } = await answer(place, 'explain', 'BAT-1');
    await inStore(place, (store, project) =>
      store.claims.take(
        { project, issueId },
        { owner: 'killed', host: 'the-host', at: systemClock.now(), leaseMs: 600_000, slotState: 'todo' },
      ),
    );
    const told: Told = await answer(place, 'explain', 'BAT-1');
    expect(refusedBy(told)).toContain('free_elsewhere');
    // Of another daemon the host would be told.
    expect(JSON.stringify(told)).not.toContain('the-host');
  });
});

describe.concurrent('baton explain next to a daemon', liveTest, () => {
  it('shows what the daemon knows: runs, waits, holds, slots', async () => {
    using place = givenPlace();
    await addIssue(place, untilDone, ...labelled);
    const daemon = await daemonHere(place);
    await untilStatus(place, { running: [{ issue_identifier: 'BAT-1' }] });
    await addIssue(place, untilDone, ...labelled);
    await untilStatus(place, { skipped: [{ issue_identifier: 'BAT-2' }] });
    const running = await answer(place, 'explain', 'BAT-1');
    const [run] = await runsOf(place);
    expect(running).toMatchObject({
      daemon: true,
      code: 'claimed',
      next: expect.stringContaining(` ${run?.run_id} `),
    });
    expect(await answer(place, 'explain', 'BAT-2')).toMatchObject({
      daemon: true,
      code: 'project_full',
      next: expect.stringMatching(/1 \D+ 1/),
    });
    await answer(place, 'issue', 'hold', 'BAT-2', '--reason', 'not\u202e yet');
    const { stdout } = await batonHere(place, 'explain', 'BAT-2');
    expect(stdout).toMatch(/^\S.*not\S+ yet.*baton issue retry BAT-2/m);
    expect(stdout).not.toContain('\u202e');
    // The title, and what happens next: nothing about a daemon.
    expect(stdout.match(/^\S/gm)).toHaveLength(2);
    letEnd(place, 'BAT-1');
    await daemon.stop();
  });

  it('works while the workflow file is invalid, and says so', async () => {
    using place = givenPlace();
    await addIssue(place, untilDone, ...labelled);
    const daemon = await daemonHere(place, '--only', 'none');
    const good = place.read('WORKFLOW.md');
    place.replace('WORKFLOW.md', good.replace('3600000', 'never'));
    await untilStatus(place, { workflow_problem: { code: 'invalid_workflow_config' } });
    const told: Told = await answer(place, 'explain', 'BAT-1');
    expect(refusedBy(told)).toEqual(['workflow', 'chosen']);
    expect(told.code).toBe('workflow_problem');
    place.replace('WORKFLOW.md', good);
    await daemon.stop();
  });
});

/** Listens where the daemon of a place would, and answers for it. */
async function listen(place: Place, explain: ApiProject['explain']): Promise<string[]> {
  const folder = path.join(place.folder, 'state');
  mkdirSync(folder);
  const tables = await scratchStore(systemClock);
  const author = { kind: 'person', name: 'a\u001b[2Jnn' } as const;
  const words = { id: 'm', at: 0, kind: 'note', author, body: 'mind\u001b[2J it\n  ok  forged' } as const;
  await tables.messages.leave({ project: 'live', issueId: '1' }, words);
  const socket = await fakeDaemon(path.join(folder, 'baton.sock'), { explain, tables });
  onTestFinished(() => socket.close());
  return ['--state-dir', folder];
}

describe('the output of baton explain', liveTest, () => {
  // @conforms tick.16
  it('cannot control the terminal, whatever the issue contains', async () => {
    using place = new Place();
    const refused = { code: 'blocked' as const, text: 'it waits for \u001b[2JX\n  ok  forged' };
    const where = await listen(place, async (issue) => ({
      issue: { id: '1', identifier: `${issue}\u202e`, title: 'A\u001b]0;x\u0007\ntitle', state: 'To\tdo' },
      gates: [
        { gate: 'free_here', refusal: null, text: 'nobody works on it' },
        { gate: 'unblocked', refusal: refused, text: refused.text },
      ],
      reason: refused,
      phase: null,
      startsBefore: 0,
      counts: { runs: 7, failures: 0, staleRuns: 2, noSignals: 1 },
      nextCode: 'waits',
      next: `it waits: ${refused.text}`,
    }));
    const shown = await batonHere(place, 'explain', 'BAT-1', ...where);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    // Shown as marks, on the line where they stand.
    expect(shown.stdout.split('\n')).toEqual([
      expect.stringMatching(/^BAT-1\S+ {2}A\S+ title {2}\(To do\)$/),
      '  ok  nobody works on it',
      expect.stringMatching(/^ {2}not ok {2}it waits for \S+X ok forged$/),
      // Every counter that is not zero.
      ...[7, 2, 1].map((count) => expect.stringMatching(new RegExp(`^ {2}count {2}${count} `))),
      expect.stringMatching(/^ {2}message .*mind\S+ it ok forged$/),
      expect.stringMatching(/^it waits: it waits for \S+X ok forged$/),
      '',
    ]);
    for (const steering of ['\u001b', '\u202e', '\u0007']) expect(shown.stdout).not.toContain(steering);
    const json = await batonHere(place, 'explain', 'BAT-1', '--json', ...where);
    for (const steering of ['\u001b', '\u202e']) expect(json.stdout).not.toContain(steering);
    expect(JSON.parse(json.stdout)).toMatchObject({
      code: 'blocked',
      gates: [{ ok: true, code: null }, { ok: false }],
    });
  });

  it.each([
    ['an error of the daemon with its code', new BatonError('tracker_status', 'It said 500.'), 'tracker_status'],
    ['a defect of the daemon', new TypeError('x'), 'internal_error'],
  ])('shows %s', async (_what, error, code) => {
    using place = new Place();
    const where = await listen(place, async () => {
      throw error;
    });
    expect(await refusal(place, 'explain', 'BAT-1', ...where)).toMatchObject({ code });
  });

  it('rejects a name that is too long or blank, and a missing one', async () => {
    using place = new Place();
    const where = await listen(place, async () => {
      throw new Error('it is not asked');
    });
    for (const name of ['x'.repeat(600), ' '])
      expect(await refusal(place, 'explain', name, ...where)).toMatchObject({ code: 'usage_error' });
    expect(await batonHere(place, 'explain', ...where)).toMatchObject({ code: 2, stdout: '' });
  });
});
