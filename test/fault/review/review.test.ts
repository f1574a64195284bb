// @module-tag full
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { answer, stopDaemon } from '../../cli/live-daemon.ts';
import { leaveNoPlaces, type RunningBaton } from '../../cli/run-baton.ts';
import { git } from '../../workspace/git/scratch-repository.ts';
import { startDoomed, startLive, untilKilled } from '../fault-daemon.ts';
import { stubborn } from '../fault-scene.ts';
import { faultTest, patiently } from '../patience.ts';
import { leftIn } from '../process-watch.ts';
import { WorktreeScene } from '../worktree-scene.ts';
import {
  checkMark,
  killPointsInChecks,
  killPointsInMerge,
  killPointsInSendBack,
  killPointsToReview,
} from './review-kill-points.ts';

leaveNoPlaces();

/** No worktree has the base checked out, so that Baton may move it. */
const base = 'trunk';

/** Records the commit outside its checkout; the second process outlives its shell unless someone ends it. */
const check = [
  `echo "$BATON_COMMIT $(git rev-parse HEAD)" >> "$HOME/../${checkMark}"`,
  'sleep 600 & if [ -e "$HOME/../wait" ]; then touch "$HOME/../waiting"; wait; fi',
].join('; ');

/** One commit, however many runs it takes. */
const agent = 'test -e work.txt || { echo work > work.txt; git add work.txt; git commit --quiet -m "The work"; }';

function reviewScene(run: string = check): WorktreeScene {
  const scene = new WorktreeScene({
    env: stubborn,
    workspace: ['repo: project', `base: ${base}`],
    agent: ['env: [NODE_OPTIONS]', 'after_success: review'],
    more: ['review:', `  checks: [{name: works, run: ${JSON.stringify(run)}}]`],
  });
  git(scene.source, 'branch', base);
  git(scene.source, 'config', 'user.name', 'A Person');
  git(scene.source, 'config', 'user.email', 'person@example.invalid');
  return scene;
}

async function untilGreen(scene: WorktreeScene, daemon: RunningBaton): Promise<void> {
  await scene.untilAll('review', daemon);
  await patiently(() =>
    expect(scene.query('select result from checks'), daemon.stderr()).toEqual([{ result: 'passed' }]),
  );
}

/** What must hold for a change in review, however often its daemon was killed. */
async function expectOneChange(scene: WorktreeScene, daemon: RunningBaton): Promise<string> {
  await untilGreen(scene, daemon);
  const head = git(scene.source, 'rev-parse', 'baton/bat-1');
  expect(scene.query('select number, head_commit, moved_at is null as waits from pull_requests')).toEqual([
    { number: 1, head_commit: head, waits: 0 },
  ]);
  expect(scene.query('select round, head_commit from pull_rounds')).toEqual([{ round: 1, head_commit: head }]);
  expect(scene.query('select commit_id, result from checks')).toEqual([{ commit_id: head, result: 'passed' }]);
  expect(git(scene.source, 'rev-list', '--count', `${base}..baton/bat-1`)).toBe('1');
  expect(git(scene.source, 'reflog', 'show', '--format=%gs', 'baton/bat-1')).toBe('baton: work of an agent');
  // Each time on the commit that stands in review.
  const checked = scene.place.read(checkMark).split('\n').filter(Boolean);
  expect(new Set(checked)).toEqual(new Set([`${head} ${head}`]));
  return head;
}

/** When no daemon runs. */
function expectNothingLeft(scene: WorktreeScene): void {
  expect(leftIn(scene.place.folder)).toEqual([]);
  expect(scene.query('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(git(scene.source, 'fsck', '--full', '--strict')).not.toMatch(/missing|broken|error/);
  scene.checkFolders();
}

describe.concurrent('a change whose daemon is killed', faultTest, () => {
  for (const [point, plans] of Object.entries(killPointsToReview)) {
    it(`${point} stands in review once, with its commit checked`, async () => {
      using scene = reviewScene();
      await scene.fileForEver(agent);
      for (const plan of plans) await untilKilled(startDoomed(scene.place, plan));
      const last = await startLive(scene.place);
      await expectOneChange(scene, last);
      await stopDaemon(last);
      expectNothingLeft(scene);
    });
  }

  it('at any point of its checks is checked again until there is a result, and nothing of a check stays', async () => {
    using scene = reviewScene();
    await scene.fileForEver(agent);
    for (const plan of killPointsInChecks) await untilKilled(startDoomed(scene.place, plan));
    const last = await startLive(scene.place);
    await expectOneChange(scene, last);
    await stopDaemon(last);
    expectNothingLeft(scene);
  });

  it('in the middle of a check is checked again, after the next daemon has ended that check with all it started', async () => {
    using scene = reviewScene();
    const { place } = scene;
    place.write('wait', '');
    await scene.fileForEver(agent);
    const first = await startLive(place);
    await patiently(() => expect(existsSync(path.join(place.folder, 'waiting')), first.stderr()).toBe(true));
    first.child.kill('SIGKILL');
    await first.ended;
    const sleeping = (): string[] => leftIn(place.folder).filter((each) => /^\d+ sleep 600/.test(each));
    const [left] = sleeping();
    expect(left).toBeDefined();
    expect(scene.query('select result, ended_at from checks')).toEqual([{ result: null, ended_at: null }]);
    const second = await startLive(place);
    await patiently(() => expect(place.read(checkMark).split('\n').filter(Boolean), second.stderr()).toHaveLength(2));
    await patiently(() => expect(sleeping(), second.stderr()).toHaveLength(1));
    expect(sleeping()).not.toContain(left);
    second.child.kill('SIGKILL');
    await second.ended;
    rmSync(path.join(place.folder, 'wait'));
    const last = await startLive(place);
    await expectOneChange(scene, last);
    expect(place.read(checkMark).split('\n').filter(Boolean)).toHaveLength(3);
    await stopDaemon(last);
    expectNothingLeft(scene);
  });

  it('while a red check sends it back goes back once, with one message, and stands green in its second round', async () => {
    using scene = reviewScene('grep -q better work.txt');
    // One commit more for each word that the repository has: the first is bad, the second is better.
    const word = '$(git cat-file -e HEAD:work.txt 2>/dev/null && echo better || echo bad)';
    const commit = `word=${word}; echo $word > work.txt; git add work.txt; git commit --quiet -m $word`;
    await scene.fileForEver(`grep -q better work.txt 2>/dev/null || { ${commit}; }`);
    for (const plan of killPointsInSendBack) await untilKilled(startDoomed(scene.place, plan));
    const last = await startLive(scene.place);
    await patiently(() =>
      expect(scene.query('select result from checks order by ended_at'), last.stderr()).toEqual([
        { result: 'failed' },
        { result: 'passed' },
      ]),
    );
    await scene.untilAll('review', last);
    await stopDaemon(last);
    expect(scene.query('select number, times_sent_back, sent_back_at from pull_requests')).toEqual([
      { number: 1, times_sent_back: 1, sent_back_at: null },
    ]);
    expect(scene.query('select round, sent_back_kind from pull_rounds order by round')).toEqual([
      { round: 1, sent_back_kind: 'check' },
      { round: 2, sent_back_kind: null },
    ]);
    expect(scene.query('select kind from messages')).toEqual([{ kind: 'check' }]);
    expect(git(scene.source, 'log', '--format=%s', `${base}..baton/bat-1`)).toBe('better\nbad');
    expectNothingLeft(scene);
  });

  it('at any point of its merge is merged once, and its issue is done in the name of the person', async () => {
    using scene = reviewScene();
    await scene.fileForEver(agent);
    const first = await startLive(scene.place);
    const head = await expectOneChange(scene, first);
    await stopDaemon(first);
    const before = git(scene.source, 'rev-parse', base);
    await answer(scene.place, 'pr', 'merge', '1');
    for (const plan of killPointsInMerge) await untilKilled(startDoomed(scene.place, plan));
    const last = await startLive(scene.place);
    await scene.untilAll('done', last);
    await patiently(() =>
      expect(scene.query('select result_code from commands'), last.stderr()).toEqual([
        { result_code: 'change_merged' },
      ]),
    );
    await stopDaemon(last);
    const merged = git(scene.source, 'rev-parse', base);
    expect(scene.query('select number, merged_commit, merged_method, closed_at from pull_requests')).toEqual([
      { number: 1, merged_commit: merged, merged_method: 'merge', closed_at: null },
    ]);
    expect(git(scene.source, 'rev-list', '--parents', '--max-count=1', base)).toBe(`${merged} ${before} ${head}`);
    expect(git(scene.source, 'reflog', 'show', '--format=%gs', base).split('\n')).toEqual([
      'baton: merge pull request 1',
      expect.stringMatching(/^branch: Created/),
    ]);
    const moves = scene.query('select author_json from board_history where to_json = \'"done"\'');
    expect(moves.map(({ author_json }) => JSON.parse(String(author_json)))).toMatchObject([{ kind: 'person' }]);
    expect(leftIn(scene.place.folder)).toEqual([]);
  });
});
