// @module-tag full
import { describe, expect, it } from 'vitest';
import { answer, stopDaemon } from '../cli/live-daemon.ts';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { seededChance } from '../fake/seeded-chance.ts';
import { startLive } from './fault-daemon.ts';
import { stubborn } from './fault-scene.ts';
import { faultTest, patiently } from './patience.ts';
import { watchProcesses } from './process-watch.ts';
import { reachable, WorktreeScene } from './worktree-scene.ts';

leaveNoPlaces();

/**
 * Commits and leaves files uncommitted, again and again, and records the content outside the workspace.
 * Baton must remove git locks that a kill left, so a git command that is refused fails the run.
 */
const agent = [
  'for step in 1 2 3; do',
  '  word=$BATON_ISSUE_IDENTIFIER-$BATON_RUN_ID-$step',
  '  echo "new-$word" > "$word.txt"; echo "new-$word" >> ../../written',
  '  sleep 0.1',
  '  git add -A; git commit --quiet --message "$word"',
  '  echo "appended-$word" >> src/a.txt; echo "appended-$word" >> ../../written',
  'done',
  'echo "left-$word" > "left-$word.txt"; echo "left-$word" >> ../../written',
].join('\n');

const kills = 7;
const issues = 4;

describe.concurrent('daemons that are killed at any moment while issues run and close', faultTest, () => {
  for (const [seed, strategy] of [
    [11, 'worktree'],
    [12, 'clone'],
  ] as const) {
    // @conforms git.29
    it(`lose nothing that an agent wrote, with the strategy ${strategy}`, async () => {
      using scene = new WorktreeScene({
        env: stubborn,
        agent: ['env: [NODE_OPTIONS]', 'max_concurrent_agents: 3'],
        workspace: ['repo: project', `strategy: ${strategy}`],
      });
      using watch = watchProcesses(scene.place.folder);
      await scene.file(...Array<string>(issues).fill(agent));
      const chance = seededChance(seed);
      for (let life = 0; life < kills; life += 1) {
        const daemon = await startLive(scene.place);
        // The time grows, so that early daemons die while workspaces are created and late ones while they are removed.
        await new Promise((resolve) => setTimeout(resolve, chance.next() * (600 + 500 * life)));
        await closeOne(scene);
        await new Promise((resolve) => setTimeout(resolve, chance.next() * 900));
        daemon.child.kill('SIGKILL');
        await daemon.ended;
      }
      const closing = await startLive(scene.place);
      await patiently(async () => {
        await closeOne(scene);
        const open = scene.query("select identifier from board_issues where status <> 'done'");
        expect(open, closing.stderr()).toEqual([]);
      });
      closing.child.kill('SIGKILL');
      await closing.ended;
      const last = await startLive(scene.place);
      await patiently(() => {
        expect(scene.names(), last.stderr()).toEqual([]);
        expect(scene.query('select run_id from runs where ended_at is null')).toEqual([]);
      });
      await stopDaemon(last);
      expect(watch.overlaps).toEqual([]);
      // A person may close an issue whose run is about to end. But no run fails.
      const expected = ['succeeded', 'interrupted', 'canceled_by_reconciliation'];
      const runs = scene.query('select outcome, error_message from runs');
      expect(runs.filter(({ outcome }) => !expected.includes(String(outcome)))).toEqual([]);
      const written = scene.place.read('written').split('\n').filter(Boolean);
      expect(written.length).toBeGreaterThanOrEqual(7 * issues);
      const kept = new Set(reachable(scene.source).split('\n'));
      expect(written.filter((word) => !kept.has(word))).toEqual([]);
      scene.checkFolders();
    });
  }
});

/** A person closes one of the issues in review. */
async function closeOne(scene: WorktreeScene): Promise<void> {
  const [waiting] = scene.query("select identifier from board_issues where status = 'review' order by identifier");
  if (waiting !== undefined) await answer(scene.place, 'issue', 'move', String(waiting.identifier), 'done');
}
