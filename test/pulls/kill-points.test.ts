// @module-tag full
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { Author } from '../../src/core/issue/author.ts';
import { mergeMethods } from '../../src/core/pull/pull-request.ts';
import { type ChangeParts, followChanges, mergeChange, proposeChange } from '../../src/pulls/changes.ts';
import { localHost } from '../../src/pulls/local/local-host.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { Git } from '../../src/workspace/git/git.ts';
import { gitPlaces } from '../../src/workspace/git/git-places.ts';
import { git } from '../workspace/git/scratch-repository.ts';
import { branch, pullScene } from './pull-scene.ts';

const stores: Store[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

const project = 'p';
const ada: Author = { kind: 'person', name: 'Ada' };
const someone: Author = { kind: 'person', name: 'unknown person' };
/** Everything that writes. A daemon is killed before or after each of them. */
const steps = ['open', 'stand', 'fetch', 'update-ref', 'merged'] as const;
type Step = (typeof steps)[number];

class Killed extends Error {}

/** Kills at one step, before or after its effect; null never kills. */
type Kill = { readonly step: Step; readonly when: 'before' | 'after' } | null;

function killing(kill: Kill) {
  return async <T>(step: string, act: () => Promise<T>): Promise<T> => {
    if (kill?.step === step && kill.when === 'before') throw new Killed(step);
    const result = await act();
    if (kill?.step === step && kill.when === 'after') throw new Killed(step);
    return result;
  };
}

function killableGit(real: Git, kill: Kill): Git {
  const at = killing(kill);
  return {
    run: (call) => at(call.args[0] ?? '', () => real.run(call)),
    ask: (call) => at(call.args[0] ?? '', () => real.ask(call)),
  };
}

function killableStore({ pullRequests }: Store, kill: Kill): ChangeParts['store'] {
  const at = killing(kill);
  return {
    pullRequests: {
      ...pullRequests,
      open: (draft) => at('open', () => pullRequests.open(draft)),
      stand: (key, head) => at('stand', () => pullRequests.stand(key, head)),
      merged: (key, merged) => at('merged', () => pullRequests.merged(key, merged)),
    },
  };
}

describe.each(mergeMethods)('a daemon that is killed around any step of a %s', (method) => {
  it.each(steps.flatMap((step) => (['before', 'after'] as const).map((when) => ({ step, when }))))(
    'proposes one change and merges it once: $when $step',
    { timeout: 120_000 },
    async (kill) => {
      const scene = pullScene();
      const { folder, source, push, tip } = scene;
      push(branch, { 'a.txt': 'a\n' }, 'one');
      push(branch, { 'b.txt': 'b\n' }, 'two');
      const baseBefore = push('main', { 'other.txt': 'x\n' });
      const url = `sqlite:${path.join(folder, 'baton.db')}`;
      const store = await openStore({ url, clock: systemClock, mode: 'visitor' });
      stores.push(store);
      const repo = { location: source, shown: source, isLocal: true };
      const daemon = (killed: Kill): ChangeParts => ({
        store: killableStore(store, killed),
        pulls: localHost.create({
          repo,
          git: killableGit(scene.git, killed),
          places: gitPlaces(path.join(folder, 'state')),
        }),
      });
      const work = async (parts: ChangeParts): Promise<void> => {
        const open = await store.pullRequests.list(project, { limit: 9 });
        if (open[0]?.merged == null)
          await proposeChange(parts, {
            ...{ project, issueId: 'i', identifier: 'T-1', title: 't', body: '', repository: source },
            ...{
              branch,
              base: 'main',
              at: 10,
              by: { kind: 'run', runId: 'r' },
              commit: git(source, 'rev-parse', branch),
            },
          });
        const pull = await store.pullRequests.openOfIssue({ project, issueId: 'i' });
        if (pull === null) return;
        const { headCommit } = pull;
        const request = { headCommit, baseCommit: tip('main') ?? '', method, by: ada, at: 1_700_000_000_000 };
        await mergeChange(parts, pull, request);
      };
      const first = await work(daemon(kill)).catch((error: unknown) => error);
      expect(first).toBeInstanceOf(Killed);
      await work(daemon(null));
      await work(daemon(null));
      const pulls = await store.pullRequests.list(project, { limit: 9 });
      expect(pulls).toMatchObject([{ number: 1, merged: { by: ada, commit: tip('main') }, closed: null }]);
      expect(await store.pullRequests.rounds({ project, number: 1 })).toHaveLength(1);
      const line = git(source, 'rev-list', '--first-parent', `${baseBefore}..main`).split('\n');
      expect(line).toHaveLength(method === 'rebase' ? 2 : 1);
      expect(git(source, 'diff', '--name-only', baseBefore, 'main')).toBe('a.txt\nb.txt');
      expect(git(source, 'fsck', '--full', '--strict')).not.toMatch(/missing|broken|error/);
      expect(await followChanges(daemon(null), project, { at: 99, someone })).toEqual([]);
    },
  );
});

describe('what others do to an open change', () => {
  async function proposed() {
    const scene = pullScene();
    const { folder, source, push } = scene;
    push(branch, { 'a.txt': 'a\n' }, 'one');
    const store = await openStore({ url: `sqlite:${path.join(folder, 'b.db')}`, clock: systemClock, mode: 'visitor' });
    stores.push(store);
    const parts = { store, pulls: scene.pulls };
    const pull = await proposeChange(parts, {
      ...{ project, issueId: 'i', identifier: 'T-1', title: 't', body: '', repository: source },
      ...{ branch, base: 'main', at: 10, by: { kind: 'run', runId: 'r' }, commit: git(source, 'rev-parse', branch) },
    });
    await store.pullRequests.approve(pull, pull.headCommit, { at: 11, by: ada });
    const follow = () => followChanges(parts, project, { at: 99, someone });
    return { ...scene, store, pull, follow };
  }

  it('is recorded once: a merge, with the person as its author', async () => {
    const { follow, onBranch, desk, tip } = await proposed();
    expect(await follow()).toMatchObject([{ effect: null, facts: { mergeability: 'clean' } }]);
    git(desk, 'fetch', '-q', 'origin');
    onBranch('main', ['merge', '-q', '--no-ff', '-m', 'by hand', `origin/${branch}`]);
    const merged = { at: 99, by: { kind: 'person', name: 'A Person' }, commit: tip('main'), method: 'merge' };
    expect(await follow()).toMatchObject([{ effect: 'merged', pull: { merged } }]);
    expect(await follow()).toEqual([]);
  });

  it('is followed: a push of a person begins a round, and the approval lapses', async () => {
    const { follow, push, store, pull } = await proposed();
    const headCommit = push(branch, { 'more.txt': 'x\n' });
    expect(await follow()).toMatchObject([{ effect: 'moved', pull: { headCommit, approved: null, movedAt: null } }]);
    expect(await follow()).toMatchObject([{ effect: null }]);
    expect(await store.pullRequests.rounds(pull)).toMatchObject([{ runId: 'r' }, { headCommit, runId: null }]);
  });

  it('is no change: a branch that a person reset or removed keeps the head that stood', async () => {
    const { follow, push, source, pull } = await proposed();
    const moved = push('main', { 'x.txt': 'x\n' });
    git(source, 'update-ref', `refs/heads/${branch}`, moved);
    expect(await follow()).toMatchObject([
      { effect: null, pull: { headCommit: pull.headCommit }, facts: { isEmpty: true } },
    ]);
    git(source, 'update-ref', '-d', `refs/heads/${branch}`);
    expect(await follow()).toMatchObject([{ effect: null, facts: { headCommit: null } }]);
  });

  it('moves the base: the record follows, and a conflict is found', async () => {
    const { follow, push } = await proposed();
    const baseCommit = push('main', { 'a.txt': 'of a person\n' });
    const facts = { mergeability: 'conflict', conflicts: ['a.txt'] };
    expect(await follow()).toMatchObject([{ effect: null, facts, pull: { baseCommit } }]);
  });
});
