// @module-tag full
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { until } from '../process/real-children.ts';
import { batonHere } from './baton-here.ts';
import {
  addIssue,
  answer,
  boardWorkflow,
  letEnd,
  liveTest,
  refusal,
  runsOf,
  soon,
  startDaemon,
  stateFolderOf,
  stopDaemon,
  untilDone,
  untilStatus,
} from './live-daemon.ts';
import { jsonLines, leaveNoPlaces, Place, type RunningBaton, startBaton } from './run-baton.ts';

/** What could steer a terminal, apart from the line feeds between lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
const steering = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** Sets the title, clears the screen, colours by a C1 control, turns the direction; then two megabytes without an end. */
const hostile = [
  "printf '\\033]0;owned\\007\\033[2J\\302\\23331m\\342\\200\\256evil\\r\\n'",
  "head -c 2000000 /dev/zero | tr '\\000' x; echo",
  "printf 'bad \\377\\376 bytes\\n'",
  untilDone,
].join('\n');

leaveNoPlaces();

describe('the runs of a daemon', liveTest, () => {
  let place: Place;
  let daemon: RunningBaton;
  beforeAll(async () => {
    place = new Place();
    place.write('WORKFLOW.md', boardWorkflow());
    await addIssue(place, untilDone);
    await addIssue(place, hostile);
    await addIssue(place, 'while :; do echo tick; sleep 0.1; done');
    await batonHere(place, 'issue', 'edit', 'BAT-2', '--title', 'turned \u202e around');
    daemon = await startDaemon(place);
    await untilStatus(place, {
      counts: { running: 3 },
      running: expect.arrayContaining(
        ['BAT-1', 'BAT-2'].map((name) => expect.objectContaining({ issue_identifier: name, last_message: 'at work' })),
      ),
    });
  }, liveTest.timeout);
  afterAll(async () => {
    await stopDaemon(daemon);
    expect(place.pids()).toEqual([]);
    place[Symbol.dispose]();
  }, liveTest.timeout);

  it('are found by id, by the start of the id, and by their issue', async () => {
    const [first] = (await runsOf(place)).filter((run) => run.issue_identifier === 'BAT-1');
    const id = String(first?.run_id);
    for (const name of [id, id.slice(0, 8), id.slice(0, 8).toUpperCase(), 'BAT-1', 'bat-1', String(first?.issue_id)]) {
      const { run } = await answer(place, 'runs', 'show', name);
      expect(run).toMatchObject({
        run_id: id,
        issue_identifier: 'BAT-1',
        role: 'worker',
        backend: 'command',
        outcome: null,
        ended_at: null,
        workspace_path: path.join(place.folder, 'workspaces', 'BAT-1'),
      });
    }
    const shown = await batonHere(place, 'runs', 'show', 'BAT-1');
    expect(shown.stdout).toMatch(new RegExp(`^run +${id}$`, 'm'));
    expect(shown.stdout).toMatch(/^result +\S/m);
    // The agent tells no cost, and there is no price: that is not nothing.
    expect(shown.stdout).toMatch(/^cost +\D+$/m);
  });

  it.each(['nope', '', 'BAT-404', '%'])('are not found by %j', async (name) => {
    for (const verb of ['show', 'log']) {
      expect(await refusal(place, 'runs', verb, name)).toMatchObject({ code: 'run_not_found', retryable: false });
    }
  });

  it('are listed for one issue or all, up to the limit', async () => {
    const { runs } = await answer(place, 'runs', 'list', '--issue', 'bat-3');
    expect(runs).toMatchObject([{ issue_identifier: 'BAT-3' }]);
    expect((await answer(place, 'runs', 'list', '--limit', '2')).runs).toHaveLength(2);
    expect(await answer(place, 'runs', 'list', '--issue', 'BAT-404')).toEqual({ runs: [] });
    expect((await batonHere(place, 'runs', 'list')).stdout).toMatch(
      /^[0-9a-f]{8} {2}\S+ \S+ {2}BAT-1 +\d+ s {2}\S.*$/m,
    );
  });

  it('cannot control a terminal by agent output, and stay valid JSON', async () => {
    // The agent prints line by line, and may still be at it.
    await soon(async () => expect((await batonHere(place, 'runs', 'log', 'BAT-2')).stdout).toMatch(/x{100}/));
    const log = await batonHere(place, 'runs', 'log', 'BAT-2');
    expect(log).toMatchObject({ code: 0, stderr: '' });
    expect(log.stdout).toContain('evil');
    expect(log.stdout).toContain('bad ');
    expect(log.stdout).toMatch(/x{100}/);
    expect(Math.max(...log.stdout.split('\n').map((line) => line.length))).toBeLessThan(300);
    const texts = await Promise.all(
      [
        ['runs', 'log', 'BAT-2', '--json'],
        ['runs', 'list'],
        ['runs', 'show', 'BAT-2'],
        ['status'],
        ['status', '--json'],
      ].map(async (args) => (await batonHere(place, ...args)).stdout),
    );
    for (const text of [log.stdout, ...texts]) expect(text).not.toMatch(steering);
    expect(jsonLines(texts[0] ?? '').map(({ seq }) => seq)).toEqual(
      jsonLines(texts[0] ?? '').map((_line, at) => at + 1),
    );
    const { running } = JSON.parse(texts.at(-1) ?? '').status;
    expect(running).toMatchObject(expect.arrayContaining([expect.objectContaining({ title: 'turned \u202e around' })]));
  });

  it('are followed until a signal comes', async () => {
    const follow = startBaton(place, 'runs', 'log', '-f', 'BAT-3', '--json');
    await until(() => follow.stdout().includes('tick'), 'the first events are there');
    const before = follow.stdout().length;
    await until(() => follow.stdout().length > before, 'later events come');
    follow.child.kill('SIGINT');
    const { code, signal, stdout, stderr } = await follow.ended;
    expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' });
    expect(jsonLines(stdout).at(-1)).toMatchObject({ event: 'notification', message: 'tick', seq: expect.any(Number) });
  });

  it('are no longer followed when the reader has closed the output', async () => {
    const follow = startBaton(place, 'runs', 'log', '--follow', 'BAT-3');
    await until(() => follow.stdout().includes('tick'), 'the first events are there');
    follow.child.stdout?.destroy();
    expect(await follow.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  });

  it('are followed to their end', async () => {
    await answer(place, 'issue', 'hold', 'BAT-1');
    const follow = startBaton(place, 'runs', 'log', '-f', 'BAT-1');
    await until(() => follow.stdout().includes('at work'), 'the events so far are there');
    expect(follow.child.exitCode).toBeNull();
    letEnd(place, 'BAT-1');
    const { code, stdout, stderr } = await follow.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trimEnd().split('\n').slice(-3).join('\n')).toMatch(/turn_completed.*\n.*stage_changed +finishing/);
    expect((await batonHere(place, 'runs', 'log', 'BAT-1', '-f')).stdout).toBe(stdout);
  });
});

describe('runs in the store', liveTest, () => {
  it('are distinguished when two ids start alike, and are harmless whatever they contain', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', boardWorkflow());
    expect(await answer(place, 'runs', 'list')).toEqual({ runs: [] });
    await keep(place, 'aaaa-1', 'AAAA', 1);
    await keep(place, 'aaaa-2', 'T-2', 2);
    expect(await refusal(place, 'runs', 'show', 'aaaa-')).toMatchObject({
      code: 'run_not_found',
      details: { runs: expect.arrayContaining(['aaaa-1', 'aaaa-2']) },
    });
    // A whole identifier counts for more than the beginning of an id.
    expect(await answer(place, 'runs', 'show', 'aaaa')).toMatchObject({ run: { run_id: 'aaaa-1' } });
    expect(await answer(place, 'runs', 'show', 'aaaa-2')).toMatchObject({
      run: { issue_identifier: 'T-2', outcome: 'failed', duration_ms: 1_000 },
    });
    for (const args of [['list'], ['list', '--json'], ['show', 'T-2'], ['show', 'T-2', '--json']]) {
      const { stdout } = await batonHere(place, 'runs', ...args);
      expect(stdout).toContain('worse');
      expect(stdout).not.toMatch(steering);
    }
  });
});

async function keep(place: Place, runId: string, identifier: string, startedAt: number): Promise<void> {
  const url = `sqlite:${path.join(stateFolderOf(place), 'baton.db')}`;
  await using store = await openStore({ url, clock: systemClock, mode: 'visitor' });
  const { id: project } = await store.projects.ensure('live', 0);
  await store.runs.start({
    runId,
    project,
    issueId: `id-${identifier}`,
    identifier,
    generation: 1,
    role: 'worker',
    attempt: null,
    retryKind: null,
    backend: 'command',
    account: null,
    host: 'here',
    startedAt,
  });
  await store.runs.finish(runId, 1, {
    endedAt: startedAt + 1_000,
    outcome: 'failed',
    errorCode: 'agent_exited',
    errorMessage: '\u001b[2Jbad\u202e and \u009b31m\u2028worse',
  });
}
