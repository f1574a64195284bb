import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { addIssue, answer, runsOf, stopDaemon } from '../cli/live-daemon.ts';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { awaitsDurableClaims } from './awaits-rewrite.ts';
import { startDoomed, startLive, statusNow, untilKilled } from './fault-daemon.ts';
import { FaultScene, faultWorkflow } from './fault-scene.ts';
import { fileInFirstVersion } from './first-version-board.ts';
import type { KillPlan } from './kill-plan.ts';
import { faultTest, patiently } from './patience.ts';
import { leftIn } from './process-watch.ts';

leaveNoPlaces();

const killInSecondMigration: readonly KillPlan[] = [
  { at: 'sql', pattern: 'drop table "retries"', when: 'after' },
  { at: 'sql', pattern: 'insert into "baton_migrations".*0002', when: 'after' },
  { at: 'sql', pattern: 'insert into "baton_migrations".*0002', when: 'after_commit' },
];

// PENDING until claims and retries are durable: see `awaits-rewrite.ts`.
describe.skipIf(awaitsDurableClaims).concurrent('after kill -9', faultTest, () => {
  it('a retry that waits is still due at its time, with its attempt, and not before', async () => {
    using scene = new FaultScene();
    const { place } = scene;
    place.write('WORKFLOW.md', faultWorkflow().replace('max_retry_backoff_ms: 500', 'max_retry_backoff_ms: 6000'));
    await addIssue(place, ['```rehearsal', 'first fail not yet', 'move review', '```'].join('\n'));
    const first = await startLive(place);
    let promised: Record<string, unknown> = {};
    await patiently(async () => {
      [promised] = (await statusNow(place)).retrying;
      expect(promised).toMatchObject({ kind: 'failure', attempt: 1, due_at: expect.any(String) });
    });
    first.child.kill('SIGKILL');
    await first.ended;
    const second = await startLive(place);
    await patiently(() => expect(scene.query('select status from board_issues')).toEqual([{ status: 'review' }]));
    await patiently(() => expect(scene.query('select run_id from runs where ended_at is null')).toEqual([]));
    const runs = await runsOf(place);
    expect(runs).toMatchObject([
      { outcome: 'failed', attempt: null },
      { outcome: 'succeeded', attempt: 1, retry_kind: 'failure' },
    ]);
    expect(Date.parse(String(runs[1]?.started_at))).toBeGreaterThanOrEqual(Date.parse(String(promised.due_at)));
    await stopDaemon(second);
    expect(leftIn(place.folder)).toEqual([]);
  });

  it('in the migration of a store that has tickets, each of them is worked in the next life', async () => {
    using scene = new FaultScene();
    await fileInFirstVersion(scene, 2);
    for (const plan of killInSecondMigration) await untilKilled(startDoomed(scene.place, plan));
    const last = await startLive(scene.place);
    await scene.untilThrough(last);
    await scene.check(last, 0);
  });

  it('in the removal of a workspace, the next life removes it, and no other', async () => {
    using scene = new FaultScene();
    await scene.file(3);
    const first = startDoomed(scene.place, { at: 'file', pattern: '^rename .*/workspaces/', when: 'after' });
    await scene.untilThrough(first);
    const [done = '', ...others] = readdirSync(path.join(scene.place.folder, 'workspaces')).toSorted();
    await answer(scene.place, 'issue', 'move', done, 'done');
    await untilKilled(first);
    const last = await startLive(scene.place);
    await patiently(() => expect(readdirSync(path.join(scene.place.folder, 'workspaces')).toSorted()).toEqual(others));
    for (const other of others) expect(scene.place.read(`workspaces/${other}/kept.txt`)).not.toBe('');
    await stopDaemon(last);
    expect(leftIn(scene.place.folder)).toEqual([]);
  });
});
