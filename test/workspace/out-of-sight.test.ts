import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { WorkspaceSettings } from '../../src/core/settings.ts';
import type { Removal } from '../../src/workspace/workspace.ts';
import { commit, git, scratchRepository } from './git/scratch-repository.ts';
import { scratchFolder } from './scratch-folder.ts';
import { scratchWorkspaces, visit } from './scratch-workspaces.ts';

/** One workspace of a repository, with work of every kind in it. */
async function withWork(settings: Partial<WorkspaceSettings> = {}) {
  const source = scratchRepository(path.join(scratchFolder(), 'project'));
  const repo = { location: source, shown: source, isLocal: true };
  const scene = scratchWorkspaces({ workspace: { repo, strategy: 'worktree', copyFrom: source, ...settings } });
  const place = { path: path.join(scene.root, 'T-1'), identifier: 'T-1' };
  await scene.workspaces.prepare(visit());
  commit(place.path, { 'c.ts': 'committed' });
  writeFileSync(path.join(place.path, 'staged.ts'), 'staged');
  git(place.path, 'add', '-A');
  writeFileSync(path.join(place.path, 'staged.ts'), 'file');
  writeFileSync(path.join(place.path, 'loose.ts'), 'loose');
  const checkouts = path.join(scene.stateDir, 'git', 'checkouts');
  const [name = ''] = readdirSync(checkouts);
  return {
    ...scene,
    source,
    place,
    kept: path.join(checkouts, name),
    remove: (): Promise<Removal> => scene.workspaces.remove(place, visit()),
  };
}

const status = 'AM staged.ts\n?? loose.ts';

describe.each(['worktree', 'clone'] as const)('the removal of a %s while its root is not mounted', (strategy) => {
  // @conforms git.30
  it.each(['absent', 'empty'])('keeps everything, with the reason, when the root is %s', async (how) => {
    const { root, place, remove, workspaces, kept, source } = await withWork({ strategy });
    renameSync(root, `${root}-elsewhere`);
    if (how === 'empty') mkdirSync(root);
    expect(await remove()).toMatchObject({ outcome: 'kept', code: 'root_away', reason: expect.stringContaining(root) });
    expect(await workspaces.isThere(place.path)).toBe(true);
    expect(existsSync(kept)).toBe(true);
    if (how === 'empty') expect(readdirSync(root)).toEqual([]);
    rmSync(root, { recursive: true, force: true });
    renameSync(`${root}-elsewhere`, root);
    expect(git(place.path, 'status', '--porcelain')).toBe(status);
    expect(await remove()).toMatchObject({ outcome: 'removed', saved: [{ files: 2 }] });
    expect(git(source, 'for-each-ref', '--format=%(refname)', 'refs/baton')).toContain('refs/baton/salvage/T-1/');
  });

  it('continues when a person confirms that the root is gone for good', async () => {
    const { root, remove, kept } = await withWork({ strategy });
    rmSync(root, { recursive: true });
    expect(await remove()).toMatchObject({ outcome: 'kept' });
    mkdirSync(root);
    writeFileSync(path.join(root, 'gone'), '');
    expect((await remove()).outcome).toBe(strategy === 'worktree' ? 'removed' : 'absent');
    expect(existsSync(kept)).toBe(false);
  });
});

describe('the removal of a workspace whose directory alone is missing', () => {
  it('saves its staged files, which its git directory still has', async () => {
    const { place, source, remove } = await withWork();
    const blob = git(place.path, 'rev-parse', ':staged.ts');
    rmSync(place.path, { recursive: true });
    expect(await remove()).toMatchObject({ outcome: 'removed', saved: [{ name: expect.any(String) }] });
    expect(git(source, 'cat-file', '-p', blob)).toBe('staged');
    const commits = git(source, 'rev-list', '--glob=refs/baton').split('\n');
    expect(commits.some((id) => git(source, 'ls-tree', '-r', id).includes(blob))).toBe(true);
  });
});

describe('a workspace with an unreadable record', () => {
  const damages: readonly (readonly [string, (text: string) => string])[] = [
    ['of a later version', (text) => text.replace('"version": 1', '"version": 2')],
    ['damaged', (text) => text.slice(0, 100)],
  ];

  // @conforms git.31
  it.each(damages)('is kept when the record is %s, even if the agent removed its .git', async (_what, damage) => {
    const { place, kept, remove, workspaces } = await withWork();
    const record = path.join(kept, 'checkout.json');
    const text = readFileSync(record, 'utf8');
    writeFileSync(record, damage(text));
    rmSync(path.join(place.path, '.git'));
    expect(await remove()).toMatchObject({ outcome: 'kept', reason: expect.stringContaining(record) });
    expect(readFileSync(path.join(place.path, 'loose.ts'), 'utf8')).toBe('loose');
    expect(existsSync(path.join(kept, 'git', 'HEAD'))).toBe(true);
    expect(await workspaces.isThere(place.path)).toBe(true);
    writeFileSync(record, text);
    expect(await remove()).toMatchObject({ outcome: 'removed', saved: [{ files: 2, commits: 0 }] });
  });

  it.each(damages)(
    'does not count as gone when the record is %s and its directory is missing',
    async (_what, damage) => {
      const { place, kept, remove } = await withWork();
      const record = path.join(kept, 'checkout.json');
      writeFileSync(record, damage(readFileSync(record, 'utf8')));
      rmSync(place.path, { recursive: true });
      expect(await remove()).toMatchObject({ outcome: 'kept', reason: expect.stringContaining(record) });
      expect(existsSync(path.join(kept, 'git', 'HEAD'))).toBe(true);
    },
  );

  it('is kept when its removal was interrupted before the work was saved', async () => {
    const { root, place, kept, workspaces } = await withWork();
    const record = path.join(kept, 'checkout.json');
    writeFileSync(record, '{}');
    rmSync(path.join(place.path, '.git'));
    const doomed = path.join(root, '+removing+T-1+1');
    renameSync(place.path, doomed);
    await workspaces.finishRemovals(root);
    expect(readFileSync(path.join(doomed, 'loose.ts'), 'utf8')).toBe('loose');
    expect(existsSync(path.join(kept, 'git', 'HEAD'))).toBe(true);
  });

  it('is still used by the next run', async () => {
    const { place, kept, workspaces } = await withWork();
    writeFileSync(path.join(kept, 'checkout.json'), '{}');
    expect(await workspaces.prepare(visit())).toMatchObject({ created: false, path: place.path });
    expect(git(place.path, 'status', '--porcelain')).toBe(status);
  });
});
