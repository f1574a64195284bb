// @module-tag full
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { BatonError } from '../../../src/core/baton-error.ts';
import type { Author } from '../../../src/core/issue/author.ts';
import { type ChangeParts, followChanges, mergeChange, proposeChange } from '../../../src/pulls/changes.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { git } from '../../workspace/git/scratch-repository.ts';
import { branch } from '../pull-scene.ts';
import { type Around, type GithubScene, githubScene, stopGithubs } from './github-scene.ts';

let scene: GithubScene;
let store: Store;

afterEach(async () => {
  expect(scene.github.complaints).toEqual([]);
  await stopGithubs();
  await store.close();
});

const project = 'p';
const ada: Author = { kind: 'person', name: 'ada' };
const someone: Author = { kind: 'person', name: 'unknown' };

/** Everything that GitHub or the store learns of a change, in its order. */
const steps = [
  'ls-remote',
  'push',
  '/repos/{owner}/{repo}/pulls',
  '/repos/{owner}/{repo}/issues/{issue_number}/labels',
  'open',
  'stand',
  'BatonPulls',
  '/repos/{owner}/{repo}/pulls/{pull_number}/merge',
  'merged',
] as const;

async function stage(): Promise<void> {
  scene = await githubScene({ labels: ['baton'] });
  const url = `sqlite:${path.join(scene.folder, 'baton.db')}`;
  store = await openStore({ url, clock: systemClock, mode: 'visitor' });
}

/** A daemon whose calls go through `around`. */
function daemon(around: Around = (_step, act) => act()): ChangeParts {
  const { pullRequests } = store;
  return {
    pulls: scene.another({}, around),
    store: {
      pullRequests: {
        ...pullRequests,
        open: (draft) => around('open', () => pullRequests.open(draft)),
        stand: (key, head) => around('stand', () => pullRequests.stand(key, head)),
        merged: (key, merged) => around('merged', () => pullRequests.merged(key, merged)),
      },
    },
  };
}

const propose = (parts: ChangeParts) =>
  proposeChange(parts, {
    ...{ project, issueId: 'i', identifier: 'T-1', title: 't', body: '', repository: scene.source },
    ...{ branch, base: 'main', at: 10, by: { kind: 'run', runId: 'r' } },
    commit: git(scene.source, 'rev-parse', branch),
  });

/** Proposes the change and merges it, as far as that was not done. */
async function work(parts: ChangeParts): Promise<void> {
  const [last] = await store.pullRequests.list(project, { limit: 9 });
  if (last?.merged == null)
    await propose(parts).catch(async (error: unknown) => {
      if (!(error instanceof BatonError) || error.code !== 'change_ended') throw error;
      // Merged before the daemon was killed: what reads the open changes records it.
      await followChanges(parts, project, { at: 30, someone });
    });
  const pull = await store.pullRequests.openOfIssue({ project, issueId: 'i' });
  if (pull === null) return;
  const baseCommit = scene.github.tip('main') ?? '';
  await mergeChange(parts, pull, { headCommit: pull.headCommit, baseCommit, method: 'merge', by: ada, at: 20 });
}

class Killed extends Error {}

describe('a daemon that is killed around any step on GitHub', () => {
  it.each(steps.flatMap((step) => (['before', 'after'] as const).map((when) => ({ step, when }))))(
    'proposes one change and merges it once: $when $step',
    async ({ step, when }) => {
      await stage();
      const head = scene.publish(branch, { 'a.txt': 'a\n' });
      const before = scene.github.tip('main') ?? '';
      let isKilled = false;
      const killing: Around = async (each, act) => {
        if (isKilled) throw new Killed(each);
        if (each === step && when === 'before') isKilled = true;
        if (isKilled) throw new Killed(each);
        const result = await act();
        if (each === step) isKilled = true;
        if (isKilled) throw new Killed(each);
        return result;
      };
      await expect(work(daemon(killing))).rejects.toThrow();
      expect(isKilled).toBe(true);
      await work(daemon());
      await work(daemon());
      expect(scene.github.pulls).toMatchObject([{ state: 'MERGED', headOid: head, labels: ['baton'] }]);
      expect(git(scene.github.repository, 'rev-list', '--first-parent', '--count', `${before}..main`)).toBe('1');
      const found = await store.pullRequests.list(project, { limit: 9 });
      expect(found).toMatchObject([{ number: 1, hostNumber: 1, merged: { commit: scene.github.tip('main') } }]);
      expect(await store.pullRequests.rounds({ project, number: 1 })).toHaveLength(1);
    },
  );
});

/** What a person does at GitHub, and the commits that must never be lost by it. */
const acts: Readonly<Record<string, () => readonly string[]>> = {
  pushes: () => [scene.push(branch, { 'theirs.txt': 'x\n' })],
  'rewrites the branch': () => {
    git(scene.desk, 'fetch', '-q', 'origin');
    scene.reset(branch, git(scene.desk, 'rev-parse', 'origin/main'));
    return [scene.push(branch, { 'rewritten.txt': 'x\n' })];
  },
  'moves the base': () => [scene.push('main', { 'base.txt': 'x\n' })],
  retargets: () => {
    git(scene.github.repository, 'update-ref', 'refs/heads/develop', scene.github.tip('main') ?? '');
    for (const { number } of scene.github.pulls) scene.github.retarget(number, 'develop');
    return [];
  },
  closes: () => {
    for (const { number } of scene.github.pulls) scene.github.close(number, 'eve');
    return [];
  },
  'closes and reopens': () => {
    for (const { number } of scene.github.pulls) {
      scene.github.close(number, 'eve');
      scene.github.reopen(number);
    }
    return [];
  },
  'merges by squash': () => {
    for (const { number } of scene.github.pulls) scene.github.merge(number, 'squash', 'eve');
    return [];
  },
  'removes the branch': () => {
    git(scene.github.repository, 'update-ref', '-d', `refs/heads/${branch}`);
    return [];
  },
};

const moments = [
  'ls-remote',
  'push',
  '/repos/{owner}/{repo}/pulls',
  'BatonPulls',
  '/repos/{owner}/{repo}/pulls/{pull_number}/merge',
];

describe.each(Object.keys(acts))('a person who %s', (name) => {
  it.each(moments)(
    'during %s loses no commit, sees one pull request, and decides alone what is merged',
    async (moment) => {
      await stage();
      const head = scene.publish(branch, { 'a.txt': 'a\n' });
      let theirs: readonly string[] | null = null;
      const acting: Around = async (each, act) => {
        if (each !== moment || theirs !== null) return act();
        // The second round of the change is what a person sees and changes.
        if (scene.github.pulls.length === 0 && moment !== 'BatonPulls') return act();
        theirs = acts[name]?.() ?? [];
        return act();
      };
      const parts = daemon(acting);
      await propose(parts);
      const second = scene.publish(branch, { 'b.txt': 'b\n' }, head);
      await propose(parts).catch(() => null);
      const [seen] = await followChanges(parts, project, { at: 30, someone });
      await work(parts).catch(() => null);
      expect(theirs).not.toBeNull();
      const { pulls, repository } = scene.github;
      // Nothing of theirs is gone.
      for (const commit of theirs ?? []) expect(git(repository, 'for-each-ref', '--contains', commit)).not.toBe('');
      expect(pulls.filter(({ state }) => state === 'OPEN').length).toBeLessThanOrEqual(1);
      expect(pulls.filter(({ headOid }) => headOid === second).length).toBeLessThanOrEqual(1);
      await followChanges(daemon(), project, { at: 40, someone });
      const rows = await store.pullRequests.list(project, { limit: 9 });
      for (const { merged, hostNumber } of rows) {
        const record = pulls.find(({ number }) => number === hostNumber);
        expect(merged !== null, JSON.stringify({ seen, record })).toBe(record?.state === 'MERGED');
      }
    },
  );
});
