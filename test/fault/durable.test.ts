// @module-tag full
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { addIssue, answer, runsOf, stopDaemon } from '../cli/live-daemon.ts';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { startDoomed, startLive, statusNow, untilKilled } from './fault-daemon.ts';
import { FaultScene, faultWorkflow } from './fault-scene.ts';
import { fileIssues, workScript } from './file-issues.ts';
import type { KillPlan } from './kill-plan.ts';
import { faultTest, patiently } from './patience.ts';
import { leftIn } from './process-watch.ts';

leaveNoPlaces();

const killInMigration: readonly KillPlan[] = [
  { at: 'sql', pattern: 'create table "retries"', when: 'after' },
  { at: 'sql', pattern: 'insert into "baton_migrations".*0001', when: 'after' },
  { at: 'sql', pattern: 'insert into "baton_migrations".*0001', when: 'after_commit' },
];
const killInRemoval: KillPlan = { at: 'file', pattern: '^rename .*/workspaces/BAT-\\d$', when: 'after' };

describe.concurrent('after kill -9', faultTest, () => {
  // @conforms spec-8.4
  it('a waiting retry stays due at its time, with its attempt', async () => {
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

  // @conforms fault.7
  it('during the migration of its store, the next daemon works on issues filed afterwards', async () => {
    using scene = new FaultScene();
    for (const plan of killInMigration) await untilKilled(startDoomed(scene.place, plan));
    // Not a copied store, because its file would be read with the log of the killed daemon.
    await fileIssues(scene.place, [workScript(), workScript()]);
    scene.issues = 2;
    const last = await startLive(scene.place);
    await scene.untilThrough(last);
    await scene.check(last, 0);
  });

  // @conforms 2.18
  it('during the removal of a workspace at startup, the next daemon finishes it and touches no other', async () => {
    using scene = new FaultScene();
    await scene.file(3);
    const first = await startLive(scene.place);
    await scene.untilThrough(first);
    await stopDaemon(first);
    await answer(scene.place, 'issue', 'move', 'BAT-2', 'done');
    const others = ['BAT-1', 'BAT-3'];
    await untilKilled(startDoomed(scene.place, killInRemoval));
    expect(workspacesOf(scene)).toEqual(['+removing+BAT-2+1', '+removing+BAT-2+1.json', ...others]);
    const last = await startLive(scene.place);
    await patiently(() => expect(workspacesOf(scene)).toEqual(others));
    for (const other of others) expect(scene.place.read(`workspaces/${other}/kept.txt`)).not.toBe('');
    await stopDaemon(last);
    expect(leftIn(scene.place.folder)).toEqual([]);
  });

  // @conforms 2.19
  it('during the removal of a workspace whose running issue was closed, the next daemon finishes it', async () => {
    using scene = new FaultScene();
    await fileIssues(scene.place, [workScript(600_000), workScript()]);
    const first = startDoomed(scene.place, killInRemoval);
    await patiently(() =>
      expect(scene.journal()).toContainEqual(expect.objectContaining({ act: 'start', issue: 'BAT-1' })),
    );
    await answer(scene.place, 'issue', 'move', 'BAT-1', 'done');
    await untilKilled(first);
    // Nothing of the run was left before its files were touched.
    expect(leftIn(path.join(scene.place.folder, 'workspaces', 'BAT-1'))).toEqual([]);
    expect(workspacesOf(scene)).toContain('+removing+BAT-1+1');
    const last = await startLive(scene.place);
    await patiently(() => {
      expect(workspacesOf(scene)).toEqual(['BAT-2']);
      expect(scene.query('select status from board_issues order by identifier')).toEqual([
        { status: 'done' },
        { status: 'review' },
      ]);
      expect(scene.query('select run_id from runs where ended_at is null')).toEqual([]);
    });
    await stopDaemon(last);
    const ofClosed = "select outcome from runs where identifier = 'BAT-1'";
    expect(scene.query(ofClosed)).toEqual([{ outcome: 'canceled_by_reconciliation' }]);
    expect(scene.place.read('workspaces/BAT-2/kept.txt')).not.toBe('');
    expect(leftIn(scene.place.folder)).toEqual([]);
  });
});

function workspacesOf({ place }: FaultScene): string[] {
  return readdirSync(path.join(place.folder, 'workspaces')).toSorted();
}
