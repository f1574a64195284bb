// @module-tag full
import { renameSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { stateFolderOf, stopDaemon } from '../cli/live-daemon.ts';
import { baton, leaveNoPlaces } from '../cli/run-baton.ts';
import { startDoomed, startLive, untilKilled } from './fault-daemon.ts';
import { FaultScene, faultWorkflow } from './fault-scene.ts';
import { checkJournal } from './journal.ts';
import { faultTest, patiently } from './patience.ts';
import { leftIn } from './process-watch.ts';
import { type Row, readStoreAt, storeFile } from './store-file.ts';

leaveNoPlaces();

describe.concurrent('a state folder', faultTest, () => {
  // @conforms fault.15
  it('is refused while the daemon of another state folder uses the same SQLite store', async () => {
    using scene = new FaultScene();
    await scene.file(2);
    scene.place.write('WORKFLOW.md', faultWorkflow(`store: {url: "sqlite:${storeFile(scene.place)}"}`));
    const first = await startLive(scene.place);
    const { code, stdout, stderr } = await baton(scene.place, 'start', '--state-dir', 'second', '--json');
    expect(code, stderr).toBe(1);
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'store_in_use', details: { pid: first.child.pid } });
    await scene.untilThrough(first);
    await scene.check(first, 0);
  });

  // @conforms fault.16
  it('that was moved after a kill belongs to a new daemon, which ends old processes, waits for the lease and continues', async () => {
    using scene = new FaultScene();
    await scene.file(2);
    scene.place.write('WORKFLOW.md', faultWorkflow('store: {lease_ms: 4000}'));
    const killInTurn = { at: 'sql', pattern: 'insert into "run_events".*at work', when: 'after_commit' } as const;
    await untilKilled(startDoomed(scene.place, killInTurn));
    expect(leftIn(path.join(scene.place.folder, 'workspaces'))).not.toEqual([]);
    const moved = path.join(scene.place.folder, 'moved');
    renameSync(stateFolderOf(scene.place), moved);
    const query = (statement: string): Row[] => readStoreAt(path.join(moved, 'baton.db'), statement);
    const unended = query('select run_id from runs where ended_at is null');
    const leaseUntil = Number(query('select max(lease_until) as until from claims')[0]?.until);
    const last = await startLive(scene.place, '--state-dir', 'moved');
    expect(last.stderr()).toContain('"event":"daemon_id_replaced"');
    await patiently(() => {
      expect(query('select distinct status from board_issues'), last.stderr()).toEqual([{ status: 'review' }]);
      expect(query('select run_id from runs where ended_at is null')).toEqual([]);
    });
    await stopDaemon(last);
    const runs = query('select run_id, outcome, started_at from runs order by started_at');
    const interrupted = runs.filter(({ outcome }) => outcome === 'interrupted').map(({ run_id }) => ({ run_id }));
    expect(interrupted).toEqual(expect.arrayContaining(unended));
    expect(interrupted).toHaveLength(unended.length);
    // An unclaimed issue starts at once; one that the other daemon claimed waits.
    const again = runs.filter(({ outcome }) => outcome === 'succeeded').map(({ started_at }) => Number(started_at));
    expect(again).toHaveLength(2);
    expect(Math.max(...again)).toBeGreaterThanOrEqual(leaseUntil);
    checkJournal(scene, runs);
    expect(scene.watch.overlaps).toEqual([]);
    expect(leftIn(scene.place.folder)).toEqual([]);
  });
});
