// @module-tag full
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { clearAfterRestart } from '../../src/workspace/workspace-resources.ts';
import { commit, git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';
import { scratchWorkspaces, visit } from '../workspace/scratch-workspaces.ts';

/** A workspace with an unpublished commit, whose directory was lost and whose daemon was killed while it restored it. */
async function halfFilled() {
  const source = scratchRepository(path.join(scratchFolder(), 'project'));
  const repo = { location: source, shown: source, isLocal: true };
  const scene = scratchWorkspaces({ workspace: { repo, strategy: 'worktree' } });
  const { path: workspace } = await scene.workspaces.prepare(visit());
  const work = commit(workspace, { 'src/b.txt': 'precious\n' });
  rmSync(workspace, { recursive: true });
  mkdirSync(workspace);
  writeFileSync(path.join(scene.root, '+making+T-1'), 'run-0');
  return { ...scene, source, workspace, work };
}

describe('a workspace that was lost, and half filled again when the daemon was killed', () => {
  it('gets its commits back at the next run', async () => {
    const { workspaces, workspace, work, root } = await halfFilled();
    await workspaces.prepare(visit());
    expect(git(workspace, 'rev-parse', 'HEAD')).toBe(work);
    expect(git(workspace, 'status', '--porcelain')).toBe('');
    expect(readdirSync(root)).toEqual(['T-1']);
  });

  it('is not removed before its commits are in the repository', async () => {
    const { workspaces, workspace, work, source, root } = await halfFilled();
    const removal = await workspaces.remove({ path: workspace, identifier: 'T-1' }, visit());
    expect(removal.outcome).toBe('removed');
    expect(readdirSync(root)).toEqual([]);
    expect(git(source, 'branch', '--all', '--contains', work)).toContain('baton/t-1');
  });
});

describe('a setup that commits and fails', () => {
  const commits = 'git -c user.name=a -c user.email=a@b.invalid commit --quiet --allow-empty --message setup';
  const setup = `${commits}; [ -e ../../ok ]`;

  it('leaves nothing for the next setup to continue from', async () => {
    const source = scratchRepository(path.join(scratchFolder(), 'project'));
    const repo = { location: source, shown: source, isLocal: true };
    const { workspaces, folder } = scratchWorkspaces({ workspace: { repo, strategy: 'worktree', setup } });
    await expect(workspaces.prepare(visit())).rejects.toMatchObject({ code: 'workspace_hook_failed' });
    expect(readdirSync(path.join(folder, 'state/git/checkouts'))).toEqual([]);
    writeFileSync(path.join(folder, 'ok'), '');
    const { path: workspace } = await workspaces.prepare(visit());
    expect(git(workspace, 'log', '--format=%s')).toBe('setup\nfirst');
  });

  it('in a workspace that is restored from its own commits keeps them', async () => {
    const source = scratchRepository(path.join(scratchFolder(), 'project'));
    const repo = { location: source, shown: source, isLocal: true };
    const { workspaces, folder } = scratchWorkspaces({ workspace: { repo, strategy: 'worktree', setup } });
    writeFileSync(path.join(folder, 'ok'), '');
    const { path: workspace } = await workspaces.prepare(visit());
    const work = commit(workspace, { 'src/b.txt': 'precious\n' });
    rmSync(workspace, { recursive: true });
    rmSync(path.join(folder, 'ok'));
    await expect(workspaces.prepare(visit())).rejects.toMatchObject({ code: 'workspace_hook_failed' });
    writeFileSync(path.join(folder, 'ok'), '');
    await workspaces.prepare(visit());
    expect(git(workspace, 'merge-base', '--is-ancestor', work, 'HEAD')).toBe('');
  });
});

describe('a marker of a workspace that was never created', () => {
  it('is listed for removal, and disappears with it', async () => {
    const { workspaces, root } = scratchWorkspaces();
    mkdirSync(root, { recursive: true });
    const mark = path.join(root, '+making+T-1');
    writeFileSync(mark, 'run-0');
    const place = { path: workspaces.pathOf('T-1'), identifier: 'T-1' };
    expect(await workspaces.isThere(place.path)).toBe(true);
    await workspaces.remove(place, visit());
    expect(existsSync(mark)).toBe(false);
    expect(await workspaces.isThere(place.path)).toBe(false);
  });
});

describe('the record of a removal of which nothing else is left', () => {
  it('is deleted at the next start, but stays while its directory exists', async () => {
    const { workspaces, root } = scratchWorkspaces();
    await workspaces.prepare(visit());
    writeFileSync(path.join(root, '+removing+T-1+1.json'), '{}');
    writeFileSync(path.join(root, '+removing+T-2+3.json'), '{}');
    mkdirSync(path.join(root, '+deleting+T-3+1'));
    writeFileSync(path.join(root, '+removing+T-3+1.json'), '{}');
    writeFileSync(path.join(root, 'not-ours.json'), '{}');
    await workspaces.finishRemovals(root);
    expect(readdirSync(root).toSorted()).toEqual(['T-1', 'not-ours.json']);
  });
});

describe('saved work whose git was killed in the middle', () => {
  it('is saved despite leftover locks in a repository of Baton, which the next daemon clears', async () => {
    const source = scratchRepository(path.join(scratchFolder(), 'project'));
    const { workspaces, folder, resources, logger } = scratchWorkspaces({
      hooks: { afterCreate: `git clone --quiet ${source} .` },
    });
    const salvage = path.join(folder, 'state', 'git', 'salvage.git');
    const saveOne = async (identifier: string): Promise<string> => {
      const mine = visit({ identifier }, { runId: 'run-1' });
      const { path: workspace } = await workspaces.prepare(mine);
      writeFileSync(path.join(workspace, 'new.txt'), identifier);
      const removal = await workspaces.remove({ path: workspace, identifier }, mine);
      return removal.outcome === 'kept' ? removal.reason : removal.outcome;
    };
    expect(await saveOne('T-1')).toBe('removed');
    mkdirSync(path.join(salvage, 'refs/baton/salvage/T-2'), { recursive: true });
    writeFileSync(path.join(salvage, 'refs/baton/salvage/T-2/run-1.lock'), '');
    writeFileSync(path.join(salvage, 'packed-refs.lock'), '');
    writeFileSync(path.join(salvage, 'objects/pack/tmp_pack_baton_1'), 'half');
    expect(await saveOne('T-2')).toBe('removed');
    await clearAfterRestart(resources, logger);
    expect(readdirSync(salvage, { recursive: true }).filter((name) => /lock$|tmp_/.test(String(name)))).toEqual([]);
    expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });
});
