// @module-tag full
import { describe, expect, it } from 'vitest';
import { runsOf } from '../cli/live-daemon.ts';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { seededChance } from '../fake/seeded-chance.ts';
import { startDoomed, startLive, untilKilled } from './fault-daemon.ts';
import { FaultScene, faultWorkflow } from './fault-scene.ts';
import { fileIssues, gatedScript, workScript } from './file-issues.ts';
import type { KillPlan } from './kill-plan.ts';
import { killInMigration, killInReload, killInShutdown, killPointsAtEnd, killPointsAtWork } from './kill-points.ts';
import { faultTest, patiently } from './patience.ts';
import { leftIn } from './process-watch.ts';

leaveNoPlaces();

describe.concurrent('a daemon that is killed', faultTest, () => {
  // The longest first, so that the others fill the remaining time.
  // @conforms 4.121
  it('at any step of its shutdown leaves nothing that the next daemon does not end', async () => {
    using scene = new FaultScene();
    await scene.file(2, gatedScript());
    for (const [life, plan] of killInShutdown.entries()) {
      const daemon = startDoomed(scene.place, plan);
      await untilAtWork(scene, 2 * (life + 1));
      daemon.child.kill('SIGTERM');
      await untilKilled(daemon);
    }
    scene.letWork();
    const last = await startLive(scene.place);
    await scene.untilThrough(last);
    await scene.check(last, killInShutdown.length);
  });

  it('at any moment, again and again, finishes every issue in the end', async () => {
    using scene = new FaultScene();
    await scene.file(3);
    const chance = seededChance(7);
    const kills = 5;
    for (let life = 0; life < kills; life += 1) {
      const daemon = await startLive(scene.place);
      await new Promise((resolve) => setTimeout(resolve, chance.next() * 900));
      daemon.child.kill('SIGKILL');
      await daemon.ended;
    }
    const last = await startLive(scene.place);
    await scene.untilThrough(last);
    await scene.check(last, kills);
  });

  for (const [point, plans] of Object.entries(killPointsAtWork)) {
    it(`${point} finishes every issue after the last restart, one agent at a time`, async () => {
      using scene = new FaultScene();
      await scene.file(2, gatedScript());
      for (const plan of plans) await untilKilled(startDoomed(scene.place, plan));
      scene.letWork();
      const last = await startLive(scene.place);
      await scene.untilThrough(last);
      await scene.check(last, plans.length);
    });
  }

  for (const [point, plan] of Object.entries(killPointsAtEnd)) {
    it(`${point} finishes every issue after a restart, one agent at a time`, async () => {
      using scene = new FaultScene();
      await scene.file(2);
      await untilKilled(startDoomed(scene.place, plan));
      const last = await startLive(scene.place);
      await scene.untilThrough(last);
      await scene.check(last, 1);
    });
  }

  // @conforms fault.6, 4.125
  it('during a turn records exactly the interrupted runs, and starts each of their issues once more', {
    tags: ['smoke'],
  }, async () => {
    using scene = new FaultScene();
    await scene.file(2, gatedScript());
    const plan: KillPlan = { at: 'sql', pattern: 'insert into "run_events".*at work', when: 'after_commit' };
    await untilKilled(startDoomed(scene.place, plan));
    // Otherwise there would be nothing to end.
    expect(leftIn(scene.place.folder)).not.toEqual([]);
    const unended = scene.query('select run_id from runs where ended_at is null').map(({ run_id }) => run_id);
    expect(unended.length).toBeGreaterThan(0);
    scene.letWork();
    const last = await startLive(scene.place);
    await scene.untilThrough(last);
    const runs = await runsOf(scene.place);
    const interrupted = runs.filter(({ outcome }) => outcome === 'interrupted');
    expect(interrupted.map(({ run_id }) => run_id).toSorted()).toEqual(unended.toSorted());
    for (const run of interrupted) {
      expect(run).toMatchObject({ error_code: 'orchestrator_restarted', ended_at: expect.any(String) });
    }
    expect(runs).toHaveLength(scene.issues + unended.length);
    await scene.check(last, 1);
  });

  // @conforms 1.6
  it('while it reloads its workflow file continues with the new one after a restart', async () => {
    using scene = new FaultScene();
    await scene.file(2, gatedScript());
    const first = startDoomed(scene.place, killInReload);
    await untilAtWork(scene, 2);
    scene.place.replace('WORKFLOW.md', faultWorkflow('  max_turns: 7'));
    await untilKilled(first);
    scene.letWork();
    const last = await startLive(scene.place);
    await scene.untilThrough(last);
    await scene.check(last, 1);
  });

  // @conforms fault.7
  it('during a migration, again, and right after it, has a complete store after a restart', async () => {
    using scene = new FaultScene();
    for (const plan of killInMigration) await untilKilled(startDoomed(scene.place, plan));
    const last = await startLive(scene.place);
    await fileIssues(scene.place, [workScript(), workScript()]);
    scene.issues = 2;
    await scene.untilThrough(last);
    await scene.check(last, 0);
  });

  /** Waits until this many runs have started, across all daemons. */
  async function untilAtWork(scene: FaultScene, runs: number): Promise<void> {
    await patiently(() => expect(scene.journal().filter(({ act }) => act === 'start')).toHaveLength(runs));
  }
});
