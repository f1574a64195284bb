import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { createPullDiff } from '../../../src/daemon/services/diff/workspace-diff.ts';
import { gitPlaces } from '../../../src/workspace/git/git-places.ts';
import { branch, pullOf, pullScene } from '../../pulls/pull-scene.ts';
import { commit, git } from '../../workspace/git/scratch-repository.ts';

const lines = (...changed: readonly (readonly [at: number, text: string])[]): string =>
  Array.from({ length: 30 }, (_, at) => new Map(changed).get(at) ?? `line ${at}`).join('\n');

/** A change whose first round stands on an old base; `rebase` makes the second round from there, with the base moved on. */
async function twoRounds(of: {
  readonly first: Readonly<Record<string, string>>;
  readonly base: Readonly<Record<string, string>>;
  readonly second: (desk: string) => void;
}) {
  const scene = pullScene();
  const { folder, source, push, pulls } = scene;
  push('main', { 'long.txt': lines() });
  const first = push(branch, of.first, 'first');
  push('main', of.base, 'of others');
  git(scene.desk, 'fetch', '-q', 'origin');
  git(scene.desk, 'checkout', '-q', '-B', branch, first);
  of.second(scene.desk);
  git(scene.desk, 'push', '-q', '--force', 'origin', `HEAD:refs/heads/${branch}`);
  const pull = pullOf(await pulls.open({ branch, base: 'main', title: '', body: '' }));
  const diff = createPullDiff({
    git: scene.git,
    places: gitPlaces(path.join(folder, 'state')),
    clock: systemClock,
    repo: () => ({ location: source, shown: source, isLocal: true }),
  });
  const round = { round: 1, headCommit: first, baseCommit: '', at: 1, runId: null, sentBack: null };
  return { found: await diff(pull, round), first, pull };
}

describe('the diff since an earlier round', () => {
  it.each([
    ['a rebase', (desk: string) => git(desk, 'rebase', '-q', 'origin/main')],
    ['a merge of the base', (desk: string) => git(desk, 'merge', '-q', '--no-edit', 'origin/main')],
  ])('has only what the change itself did, after %s', async (_, bring) => {
    const { found, first, pull } = await twoRounds({
      first: { 'long.txt': lines([2, 'changed']), 'a.txt': 'a\n' },
      base: { 'long.txt': lines([27, 'of others']), 'other.txt': 'x\n' },
      second: (desk) => {
        bring(desk);
        commit(desk, { 'a.txt': 'better\n' });
      },
    });
    expect(found).toMatchObject({ base: first, head: pull.headCommit, why_none: null });
    expect(found.files).toMatchObject([{ path: 'a.txt', status: 'modified', added: 1, removed: 1 }]);
    expect(found.includes_base).toBeUndefined();
  });

  it('has nothing after a rebase alone', async () => {
    const { found } = await twoRounds({
      first: { 'a.txt': 'a\n' },
      base: { 'other.txt': 'x\n' },
      second: (desk) => git(desk, 'rebase', '-q', 'origin/main'),
    });
    expect(found).toMatchObject({ files: [], why_none: null });
  });

  it('has the changes of the base too, and says so, where the earlier commit conflicts with it', async () => {
    const { found } = await twoRounds({
      first: { 'long.txt': lines([2, 'mine']) },
      base: { 'long.txt': lines([2, 'theirs']), 'other.txt': 'x\n' },
      second: (desk) => {
        git(desk, 'reset', '-q', '--hard', 'origin/main');
        commit(desk, { 'long.txt': lines([2, 'mine and theirs']) });
      },
    });
    expect(found).toMatchObject({ includes_base: true, why_none: null });
    expect(found.files.map((file) => file.path).toSorted()).toEqual(['long.txt', 'other.txt']);
  });

  it('is plain where the base did not move', async () => {
    const { found, first } = await twoRounds({
      first: { 'a.txt': 'a\n' },
      base: { 'other.txt': 'x\n' },
      second: (desk) => commit(desk, { 'b.txt': 'b\n' }),
    });
    expect(found).toMatchObject({ base: first, files: [{ path: 'b.txt', status: 'added' }] });
  });
});
