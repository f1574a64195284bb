// @module-tag full
import { existsSync } from 'node:fs';
import { createConnection } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../process/real-children.ts';
import { batonHere, daemonHere } from './baton-here.ts';
import {
  addIssue,
  answer,
  boardWorkflow,
  failsWhenDone,
  letEnd,
  liveTest,
  refusal,
  runsOf,
  startDaemon,
  stateFolderOf,
  statusOf,
  stopDaemon,
  untilDone,
  untilStatus,
} from './live-daemon.ts';
import { baton, leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

function givenPlace(more = ''): Place {
  const place = new Place();
  place.write('WORKFLOW.md', boardWorkflow(more));
  return place;
}

const runningOnly = (...identifiers: string[]) => ({
  running: identifiers.map((issue_identifier) => ({ issue_identifier })),
});

describe.concurrent('commands of another process to a daemon', liveTest, () => {
  it('pause it with a reason shown, and resume it', async () => {
    using place = givenPlace();
    const daemon = await daemonHere(place);
    const paused = await answer(place, 'pause', '--reason', 'lunch\u001b[2J\u202e');
    expect(paused).toMatchObject({
      command: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        kind: 'pause',
        status: 'done',
        code: 'paused',
        text: expect.any(String),
        data: { runs: 0 },
      },
    });
    await addIssue(place, untilDone);
    await untilStatus(place, {
      paused: { kind: 'pause', reason: expect.stringContaining('lunch') },
      skipped: [{ issue_identifier: 'BAT-1', code: 'paused' }],
    });
    expect(await runsOf(place)).toEqual([]);
    const shown = await batonHere(place, 'status');
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toContain('(lunch␛[2J⟦U+202E⟧)');
    expect(shown.stdout).toContain('BAT-1');
    for (const steering of ['\u001b', '\u202e']) expect(shown.stdout).not.toContain(steering);

    expect(await refusal(place, 'pause')).toMatchObject({
      code: 'command_refused',
      details: { kind: 'pause', code: 'already_paused' },
    });
    const plain = await batonHere(place, 'pause');
    expect(plain).toMatchObject({ code: 1, stdout: '' });
    expect(plain.stderr).toContain('.\n  code: command_refused\n');

    const resumed = await batonHere(place, 'resume');
    expect(resumed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S[^\n]*\.\n$/), stderr: '' });
    await untilStatus(place, { paused: null, ...runningOnly('BAT-1') });
    expect(await refusal(place, 'resume')).toMatchObject({ details: { code: 'not_paused' } });
    await daemon.stop();
  });

  it('drain it: it stops by itself after its last run', async () => {
    using place = givenPlace();
    await addIssue(place, untilDone);
    const daemon = await startDaemon(place);
    await untilStatus(place, runningOnly('BAT-1'));
    expect(await answer(place, 'drain', '--reason', 'update')).toMatchObject({
      command: { status: 'done', code: 'draining', data: { runs: 1 } },
    });
    await addIssue(place, untilDone);
    await untilStatus(place, {
      paused: { kind: 'drain', reason: 'update' },
      skipped: expect.arrayContaining([expect.objectContaining({ issue_identifier: 'BAT-2', code: 'paused' })]),
      ...runningOnly('BAT-1'),
    });
    expect((await batonHere(place, 'status')).stdout).toContain('(update)');
    letEnd(place, 'BAT-1');
    expect(await daemon.ended).toMatchObject({ code: 0, signal: null });
    expect(place.pids()).toEqual([]);
    expect(await runsOf(place)).toMatchObject([{ issue_identifier: 'BAT-1', outcome: 'succeeded' }]);
    expect(existsSync(path.join(stateFolderOf(place), 'baton.sock'))).toBe(false);
  });

  it('hold, release, stop and retry issues', async () => {
    using place = givenPlace();
    const daemon = await daemonHere(place);
    await answer(place, 'pause');
    await addIssue(place, untilDone);
    expect(await answer(place, 'issue', 'hold', 'bat-1', '--reason', 'not yet')).toMatchObject({
      command: { kind: 'issue_hold', status: 'done', code: 'held' },
    });
    await answer(place, 'resume');
    await addIssue(place, untilDone);
    await untilStatus(place, {
      held: [{ issue_identifier: 'BAT-1', code: 'person', reason: 'not yet' }],
      ...runningOnly('BAT-2'),
    });
    expect(await answer(place, 'issue', 'hold', 'BAT-1')).toMatchObject({
      command: { status: 'done', code: 'already_held', data: { hold_code: 'person', reason: 'not yet' } },
    });
    const shown = (await batonHere(place, 'status')).stdout;
    expect(shown).toMatch(/^ {2}BAT-1 +not yet$/m);
    expect(shown.match(/BAT-1/g)).toHaveLength(1);

    await answer(place, 'issue', 'release', 'BAT-1');
    await untilStatus(place, { held: [], counts: { running: 2 } });
    expect((await runsOf(place)).map((run) => run.issue_identifier)).toEqual(['BAT-2', 'BAT-1']);
    expect(await refusal(place, 'issue', 'release', 'BAT-2')).toMatchObject({
      code: 'command_refused',
      details: { code: 'not_held' },
    });
    expect(await answer(place, 'issue', 'release', 'BAT-1')).toMatchObject({
      command: { status: 'done', code: 'already_released', data: { by: expect.any(String) } },
    });

    await answer(place, 'issue', 'stop', 'BAT-1', '--reason', 'wrong branch');
    await untilStatus(place, {
      held: [{ issue_identifier: 'BAT-1', reason: 'wrong branch' }],
      ...runningOnly('BAT-2'),
    });
    expect((await runsOf(place)).at(-1)).toMatchObject({
      issue_identifier: 'BAT-1',
      outcome: 'canceled_by_reconciliation',
      error_code: 'run_cancelled',
    });
    expect(await answer(place, 'issue', 'stop', 'BAT-1')).toMatchObject({
      command: { status: 'done', code: 'already_stopped', data: { by: expect.any(String) } },
    });
    for (const [verb, name, code] of [
      ['retry', 'BAT-2', 'already_running'],
      ['hold', 'BAT-404', 'issue_not_found'],
    ] as const)
      expect(await refusal(place, 'issue', verb, name)).toMatchObject({ details: { code } });

    await answer(place, 'issue', 'retry', 'BAT-1');
    await untilStatus(place, { held: [], counts: { running: 2 } });
    expect(await answer(place, 'issue', 'hold', 'BAT-1')).toMatchObject({
      command: { status: 'done', code: 'held_after_run' },
    });
    letEnd(place, 'BAT-1');
    await untilStatus(place, { held: [{ issue_identifier: 'BAT-1' }], ...runningOnly('BAT-2') });
    expect((await runsOf(place)).map(({ issue_identifier, outcome }) => [issue_identifier, outcome])).toEqual([
      ['BAT-2', null],
      ['BAT-1', 'canceled_by_reconciliation'],
      ['BAT-1', 'succeeded'],
    ]);
    await daemon.stop();
  });

  it('retry a failed issue at once', async () => {
    using place = givenPlace();
    await addIssue(place, failsWhenDone);
    const daemon = await startDaemon(place);
    await untilStatus(place, runningOnly('BAT-1'));
    letEnd(place, 'BAT-1');
    await untilStatus(place, { retrying: [{ issue_identifier: 'BAT-1', kind: 'failure', attempt: 1 }] });
    const [{ due_at: dueAt }] = (await statusOf(place)).retrying;
    await answer(place, 'issue', 'retry', 'BAT-1');
    await untilStatus(place, { retrying: [], ...runningOnly('BAT-1') });
    const [first, second] = await runsOf(place);
    expect(first).toMatchObject({ outcome: 'failed', error_code: 'agent_exited', attempt: null });
    expect(second).toMatchObject({ outcome: null, attempt: 1, retry_kind: 'failure' });
    expect(Date.parse(String(second?.started_at))).toBeLessThan(Date.parse(dueAt));
    await stopDaemon(daemon);
  });

  it('are carried out once when sent twice with the same key, with the same answer', async () => {
    using place = givenPlace();
    const daemon = await startDaemon(place);
    const first = await answer(place, 'pause', '--key', 'k');
    await answer(place, 'resume');
    expect(await answer(place, 'pause', '--key', 'k')).toEqual(first);
    expect(await statusOf(place)).toMatchObject({ paused: null });
    expect(await refusal(place, 'resume', '--key', 'k')).toMatchObject({
      code: 'command_refused',
      details: { code: 'key_in_use', kind: 'pause', id: first.command.id },
    });
    await refusal(place, 'issue', 'hold', 'BAT-8', '--key', 'refused');
    expect(await refusal(place, 'issue', 'hold', 'BAT-8', '--key', 'refused')).toMatchObject({
      details: { code: 'issue_not_found' },
    });
    expect(await refusal(place, 'issue', 'hold', 'BAT-9', '--key', 'refused')).toMatchObject({
      details: { code: 'key_in_use', kind: 'issue_hold' },
    });
    await stopDaemon(daemon);
  });

  it('that arrive at the same time are carried out one after the other', async () => {
    using place = givenPlace();
    const daemon = await daemonHere(place);
    const ended = await Promise.all(Array.from({ length: 4 }, () => baton(place, 'pause', '--json')));
    expect(ended.map(({ code }) => code).sort()).toEqual([0, 1, 1, 1]);
    for (const { code, stdout } of ended) {
      if (code === 1) expect(JSON.parse(stdout).error.details).toMatchObject({ code: 'already_paused' });
    }
    expect(await answer(place, 'status')).toMatchObject({ waiting_commands: 0, status: { paused: { kind: 'pause' } } });
    await daemon.stop();
  });
});

describe.concurrent('a command without a daemon', liveTest, () => {
  it('waits, says so, and is carried out before the next daemon starts anything', async () => {
    using place = givenPlace();
    await addIssue(place, untilDone);
    const plain = await batonHere(place, 'issue', 'hold', 'BAT-1', '--reason', 'later');
    expect(plain).toMatchObject({ code: 0, stderr: '' });
    expect(plain.stdout).toMatch(/^\S[^\n]*\.\n$/);
    const waiting = await answer(place, 'pause', '--key', 'k');
    expect(waiting).toMatchObject({ command: { kind: 'pause', status: 'waiting', code: null } });
    expect(await answer(place, 'status')).toEqual({
      daemon: false,
      waiting_commands: 2,
      held_issues: 0,
      reviews: [],
      state_dir: expect.stringContaining(path.basename(place.folder)),
      status: null,
    });
    const shown = await batonHere(place, 'status');
    expect(shown.stdout.split('\n')).toEqual([
      expect.stringMatching(new RegExp(` ${place.folder}/WORKFLOW\\.md\\b.* baton start$`)),
      expect.stringMatching(/^2 /),
      expect.stringMatching(/^0 /),
      '',
    ]);

    const daemon = await startDaemon(place);
    await untilStatus(place, {
      paused: { kind: 'pause' },
      held: [{ issue_identifier: 'BAT-1', reason: 'later' }],
      skipped: [],
    });
    expect(await runsOf(place)).toEqual([]);
    expect(await answer(place, 'pause', '--key', 'k')).toMatchObject({
      command: { id: waiting.command.id, status: 'done', code: 'paused' },
    });
    expect(await answer(place, 'status')).toMatchObject({ daemon: true, waiting_commands: 0 });
    await stopDaemon(daemon);
  });
});

describe.concurrent('a daemon next to other processes', liveTest, () => {
  it('refuses a second daemon on the same state; when killed, it leaves pauses and holds, and no lock', async () => {
    using place = givenPlace();
    await addIssue(place, untilDone);
    const first = await startDaemon(place);
    await untilStatus(place, runningOnly('BAT-1'));
    const second = await baton(place, 'start', '--json');
    expect(second.code).toBe(1);
    expect(JSON.parse(second.stdout).error).toMatchObject({
      code: 'store_in_use',
      details: { pid: first.child.pid },
    });
    await untilStatus(place, runningOnly('BAT-1'));

    await answer(place, 'issue', 'hold', 'BAT-1', '--reason', 'after this run');
    await answer(place, 'pause', '--reason', 'over night');
    await addIssue(place, untilDone);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(existsSync(path.join(stateFolderOf(place), 'baton.sock'))).toBe(true);
    expect(await answer(place, 'status')).toMatchObject({ daemon: false });

    const next = await startDaemon(place);
    await untilStatus(place, {
      paused: { kind: 'pause', reason: 'over night' },
      held: [{ issue_identifier: 'BAT-1', reason: 'after this run' }],
      skipped: expect.arrayContaining([expect.objectContaining({ issue_identifier: 'BAT-2', code: 'paused' })]),
      running: [],
    });
    await answer(place, 'resume');
    await untilStatus(place, { held: [{ issue_identifier: 'BAT-1' }], ...runningOnly('BAT-2') });
    await stopDaemon(next);
  });

  it('refuses a second daemon with another store in the same state folder', async () => {
    using place = givenPlace();
    place.write('OTHER.md', boardWorkflow(`store: {url: "sqlite:${place.folder}/other.db"}`));
    const first = await startDaemon(place, '--state-dir', 'own');
    const { code, stdout } = await baton(place, 'start', 'OTHER.md', '--state-dir', 'own', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'store_in_use' });
    expect(await answer(place, 'pause', '--state-dir', 'own')).toMatchObject({ command: { status: 'done' } });
    await stopDaemon(first);
  });

  it('survives garbage on its socket, and callers that disconnect before the answer', async () => {
    using place = givenPlace();
    const daemon = await startDaemon(place);
    const socket = path.join(stateFolderOf(place), 'baton.sock');
    const said = ['{"ask":"status"}\n', '\u0000\u0001\u0002\n', '{"ask":', '{"ask":{"ask":"wake"}}\n', '[]\n', '\n'];
    const visits = Array.from({ length: 120 }, (_, at) => visit(socket, said[at % said.length] ?? '', at % 3));
    visits.push(visit(socket, 'x'.repeat(1_000_000), 0));
    await Promise.all(visits);
    expect(await answer(place, 'pause')).toMatchObject({ command: { status: 'done' } });
    expect(daemon.child.exitCode).toBeNull();
    await stopDaemon(daemon);
  });
});

/** Says something and leaves without listening: at once, or so many turns of the loop later. */
async function visit(socket: string, text: string, turns: number): Promise<void> {
  let isClosed = false;
  const connection = createConnection(socket, () => {
    connection.write(text, () => {
      let left = turns;
      const leave = (): void => void (left-- > 0 ? setImmediate(leave) : connection.destroy());
      leave();
    });
  });
  connection.on('error', () => connection.destroy());
  connection.on('close', () => {
    isClosed = true;
  });
  await until(() => isClosed, 'the visitor has left');
}
