// @module-tag full
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { answer, stateFolderOf, stopDaemon } from '../cli/live-daemon.ts';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { git } from '../workspace/git/scratch-repository.ts';
import { startDoomed, startLive, untilKilled } from './fault-daemon.ts';
import { stubborn } from './fault-scene.ts';
import { faultTest, patiently } from './patience.ts';
import {
  killPointsInAnyRemoval,
  killPointsInCreation,
  killPointsInPublication,
  killPointsInRemoval,
} from './workspace-kill-points.ts';
import { reachable, WorktreeScene } from './worktree-scene.ts';

leaveNoPlaces();

/** Agents that survive their daemon, and hooks that can be distinguished from other programs. */
const options = {
  env: stubborn,
  agent: ['env: [NODE_OPTIONS]'],
  workspace: ['repo: project', 'setup: "echo set up >> setup.log; sleep 0.1; : setup-of-the-test"'],
  hooks: ['before_remove: ": before-remove-of-the-test"'],
};

const otherStrategies = {
  clone: { workspace: ['repo: project', 'strategy: clone'] },
  none: {
    workspace: ['strategy: none'],
    hooks: ['after_create: "git clone --quiet ../../project . && git switch --quiet --create mine"'],
  },
};

/** Records outside the workspace what it wrote inside, so that a test knows what must not be lost. */
const agent = [
  'word=$BATON_ISSUE_IDENTIFIER-$BATON_RUN_ID',
  'echo "committed-$word" > "committed-$BATON_RUN_ID.txt"; echo "committed-$word" >> ../../written',
  'git add "committed-$BATON_RUN_ID.txt"; git commit --quiet --message "Work of $word"',
  'echo "appended-$word" >> src/a.txt; echo "appended-$word" >> ../../written',
  'echo "new-$word" > "new-$BATON_RUN_ID.txt"; echo "new-$word" >> ../../written',
].join('\n');

describe.concurrent('a workspace whose daemon is killed', faultTest, () => {
  for (const [point, plans] of Object.entries(killPointsInCreation)) {
    // @conforms git.27
    it(`${point} is created from the beginning by the last daemon, and used by one agent`, async () => {
      using scene = new WorktreeScene(options);
      await scene.file(agent);
      for (const plan of plans) await untilKilled(startDoomed(scene.place, plan));
      const last = await startLive(scene.place);
      await scene.untilAll('review', last);
      await stopDaemon(last);
      expect(scene.names()).toEqual(['BAT-1']);
      const workspace = scene.workspace('BAT-1');
      // Complete: every file of the base is there, and setup ran once.
      expect(readFileSync(path.join(workspace, 'README.md'), 'utf8')).toBe('hello\n');
      expect(readFileSync(path.join(workspace, 'setup.log'), 'utf8')).toBe('set up\n');
      git(workspace, 'fsck', '--strict');
      const runs = scene.query('select outcome from runs order by started_at');
      expect(runs.at(-1)).toEqual({ outcome: 'succeeded' });
      expect(runs.slice(0, -1)).toEqual(Array(runs.length - 1).fill({ outcome: 'interrupted' }));
      expect(git(scene.source, 'rev-parse', 'baton/bat-1')).toBe(git(workspace, 'rev-parse', 'HEAD'));
      expect(git(scene.source, 'rev-list', '--count', 'main..baton/bat-1')).toBe('1');
      scene.checkFolders();
    });
  }

  for (const [point, plans] of Object.entries(killPointsInRemoval)) {
    // @conforms git.28
    it(`${point} is removed by the last daemon, with its work saved once`, async () => {
      using scene = new WorktreeScene(options);
      await scene.file(agent);
      const first = await startLive(scene.place);
      await scene.untilAll('review', first);
      await stopDaemon(first);
      await answer(scene.place, 'issue', 'move', 'BAT-1', 'done');
      for (const plan of plans) {
        await untilKilled(startDoomed(scene.place, plan));
        deleteOneOf(scene);
      }
      const last = await startLive(scene.place);
      await scene.untilGone(last, 'BAT-1');
      await stopDaemon(last);
      expect(scene.names()).toEqual([]);
      const [reference, ...others] = scene.salvaged();
      expect(others).toEqual([]);
      const [run] = scene.query('select run_id from runs');
      expect(reference).toBe(`refs/baton/salvage/BAT-1/${run?.run_id}`);
      expect(git(scene.source, 'show', `${reference}:README.md`)).toBe('hello');
      expectAllIn(scene);
      scene.checkFolders();
    });
  }

  for (const [strategy, more] of Object.entries(otherStrategies)) {
    it(`at many points of its removal, with the strategy ${strategy}, is removed with its work saved once`, async () => {
      using scene = new WorktreeScene({ ...options, ...more });
      await scene.file(agent);
      const first = await startLive(scene.place);
      await scene.untilAll('review', first);
      await stopDaemon(first);
      await answer(scene.place, 'issue', 'move', 'BAT-1', 'done');
      for (const plan of killPointsInAnyRemoval) {
        await untilKilled(startDoomed(scene.place, plan));
        deleteOneOf(scene);
      }
      const last = await startLive(scene.place);
      await scene.untilGone(last, 'BAT-1');
      await stopDaemon(last);
      const own = path.join(stateFolderOf(scene.place), 'git', 'salvage.git');
      const home = strategy === 'none' ? own : scene.source;
      expect(scene.salvaged(home)).toHaveLength(1);
      expectAllIn(scene, home);
      scene.checkFolders();
    });
  }

  it('while its branch is published has every commit of every run in the repository in the end', async () => {
    using scene = new WorktreeScene({ ...options, agent: [...options.agent, 'max_turns: 1'] });
    await scene.fileForEver(agent);
    for (const plan of killPointsInPublication) await untilKilled(startDoomed(scene.place, plan));
    const last = await startLive(scene.place);
    await patiently(() =>
      expect(scene.query("select run_id from runs where outcome = 'succeeded'"), last.stderr()).not.toEqual([]),
    );
    await answer(scene.place, 'issue', 'move', 'BAT-1', 'done');
    await scene.untilGone(last, 'BAT-1');
    await stopDaemon(last);
    const runs = scene.place.read('written').match(/^committed-/gm) ?? [];
    expect(runs.length).toBeGreaterThan(1);
    expect(git(scene.source, 'rev-list', '--count', 'main..baton/bat-1')).toBe(String(runs.length));
    expect(scene.salvaged()).toHaveLength(1);
    expectAllIn(scene);
    scene.checkFolders();
  });

  it('while it is removed, and whose issue is reopened before the restart, continues on its branch', async () => {
    using scene = new WorktreeScene(options);
    await scene.file(agent);
    const first = await startLive(scene.place);
    await scene.untilAll('review', first);
    await stopDaemon(first);
    await answer(scene.place, 'issue', 'move', 'BAT-1', 'done');
    await untilKilled(startDoomed(scene.place, { at: 'file', pattern: '^rename .*/workspaces/BAT-1$', when: 'after' }));
    await answer(scene.place, 'issue', 'move', 'BAT-1', 'todo');
    const last = await startLive(scene.place);
    await scene.untilAll('review', last);
    await scene.closeAndPrune('BAT-1');
    await stopDaemon(last);
    expect(git(scene.source, 'rev-list', '--count', 'main..baton/bat-1')).toBe('2');
    expect(scene.salvaged()).toHaveLength(2);
    expectAllIn(scene);
    scene.checkFolders();
  });

  it('in the middle of a commit, with git locked, is still used by the next agent', async () => {
    using scene = new WorktreeScene(options);
    const { place } = scene;
    const inCommit = 'touch "$(git rev-parse --git-dir)/index.lock" "$(git rev-parse --git-dir)/HEAD.lock"';
    const first = `echo kept > kept.txt; ${inCommit}; touch ../../begun; sleep 600`;
    await scene.file(`if [ ! -e ../../begun ]; then ${first}; fi\n${agent}`);
    const killed = await startLive(place);
    await patiently(() => expect(existsSync(path.join(place.folder, 'begun')), killed.stderr()).toBe(true));
    killed.child.kill('SIGKILL');
    await killed.ended;
    const last = await startLive(place);
    await scene.untilAll('review', last);
    await stopDaemon(last);
    expect(scene.query('select outcome from runs order by started_at')).toEqual([
      { outcome: 'interrupted' },
      { outcome: 'succeeded' },
    ]);
    expect(readFileSync(path.join(scene.workspace('BAT-1'), 'kept.txt'), 'utf8')).toBe('kept\n');
    scene.checkFolders();
  });

  it('while it is created, and whose issue is closed before the restart, leaves nothing behind', async () => {
    for (const pattern of ['^writeFile .*\\+making\\+BAT-1$', '^rename .*checkout\\.json\\+making$']) {
      using scene = new WorktreeScene(options);
      await scene.file(agent);
      await untilKilled(startDoomed(scene.place, { at: 'file', pattern, when: 'after' }));
      await answer(scene.place, 'issue', 'move', 'BAT-1', 'cancelled');
      // The first one ends the run, perhaps too late for the files.
      const next = await startLive(scene.place);
      await scene.untilAll('cancelled', next);
      await stopDaemon(next);
      const last = await startLive(scene.place);
      await scene.untilGone(last, 'BAT-1');
      await stopDaemon(last);
      expect(scene.names()).toEqual([]);
      expect(scene.salvaged()).toEqual([]);
      scene.checkFolders();
    }
  });

  it('before its branch is published, and whose issue is in review by then, has it published after the restart', async () => {
    using scene = new WorktreeScene(options);
    await scene.file(agent);
    const pattern = ' update-ref --create-reflog ';
    await untilKilled(startDoomed(scene.place, { at: 'spawn', pattern, when: 'before' }));
    const last = await startLive(scene.place);
    await scene.untilAll('review', last);
    const work = git(scene.workspace('BAT-1'), 'rev-parse', 'HEAD');
    await patiently(() =>
      expect(git(scene.source, 'for-each-ref', '--format=%(objectname)', 'refs/heads/baton'), last.stderr()).toBe(work),
    );
    await stopDaemon(last);
    scene.checkFolders();
  });
});

/** As if the kill had come in the middle of the deletion: some files are gone. */
function deleteOneOf(scene: WorktreeScene): void {
  for (const doomed of scene.names().filter((name) => name.startsWith('+deleting+'))) {
    const [name] = readdirSync(scene.workspace(doomed));
    if (name !== undefined) rmSync(path.join(scene.workspace(doomed), name), { recursive: true });
  }
}

/** Everything that an agent wrote is in a branch or in the saved work. */
function expectAllIn(scene: WorktreeScene, repository: string = scene.source): void {
  const written = scene.place.read('written').split('\n').filter(Boolean);
  expect(written.length).toBeGreaterThan(2);
  const kept = new Set(reachable(repository).split('\n'));
  expect(written.filter((word) => !kept.has(word))).toEqual([]);
}
