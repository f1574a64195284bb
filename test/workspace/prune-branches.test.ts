import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { PublishedBranch } from '../../src/core/prune.ts';
import { deleteBranch, standingBranches } from '../../src/workspace/removal/prune-branches.ts';
import { commit, git } from './git/scratch-repository.ts';
import { makeRepository, salvageScene } from './salvage/salvage-scene.ts';

const branch = 'baton/t-1';

/** A person's repository with a branch of Baton that has a commit of its own. */
function scene() {
  const stage = salvageScene({ local: true });
  makeRepository(stage.source);
  git(stage.source, 'branch', '-M', 'main');
  git(stage.source, 'checkout', '-q', '-b', branch);
  const tip = commit(stage.source, { 'work.txt': 'the work\n' }, 'Work');
  git(stage.source, 'checkout', '-q', 'main');
  const repo = { location: stage.source, shown: stage.source, isLocal: true };
  const { git: real, logger } = stage;
  const parts = { git: real, logger, clock: systemClock, project: 'test', repo };
  const published: PublishedBranch = {
    ...{ issueId: '1', identifier: 'T-1', runId: 'run-1', branch, base: 'main', commit: tip },
    ...{ idleSince: 0, workspaces: [] },
  };
  const names = () => git(stage.source, 'for-each-ref', '--format=%(refname)').split('\n');
  return { ...stage, parts, published, names, ended: { ...published, title: 'A title' } };
}

describe('the branch of a finished issue', () => {
  // @conforms 4.130
  it('is deleted without a copy when its base has its commits', async () => {
    const { source, parts, ended, names } = scene();
    git(source, 'merge', '-q', '--ff-only', branch);
    expect(await deleteBranch(ended, parts)).toBe(true);
    expect(names()).toEqual(['refs/heads/main']);
    expect(await deleteBranch(ended, parts)).toBe(false);
  });

  // @conforms 4.130
  it('is saved first when its base lacks a commit, once, and a restore brings it back', async () => {
    const { source, parts, ended, names, salvage, folder, published } = scene();
    expect(await deleteBranch(ended, parts)).toBe(true);
    expect(names()).toEqual(['refs/baton/salvage/T-1/run-1', 'refs/heads/main']);
    const [work] = await salvage.list();
    expect(work).toMatchObject({ issueIdentifier: 'T-1', project: 'test', branch, head: published.commit, commits: 1 });
    if (work === undefined) throw new Error('nothing was saved');
    expect(await salvage.measure([work])).toBeGreaterThan(0);
    const restored = path.join(folder, 'restored');
    expect(await salvage.restore(work, restored)).toMatchObject({ branch, head: published.commit, unstaged: null });
    expect(git(restored, 'show', `${branch}:work.txt`)).toBe('the work');
    expect(git(restored, 'status', '--porcelain')).toBe('');
    // Killed after the save: the branch is still there, and is not saved a second time.
    git(source, 'branch', branch, published.commit);
    expect(await deleteBranch(ended, parts)).toBe(true);
    expect(await salvage.list()).toHaveLength(1);
  });

  it('stays when someone moved it, has it checked out, or deleted it', async () => {
    const { source, parts, ended, published } = scene();
    git(source, 'checkout', '-q', branch);
    expect(await deleteBranch(ended, parts)).toBe(false);
    const moved = commit(source, { 'more.txt': 'of a person\n' });
    git(source, 'checkout', '-q', 'main');
    expect(await deleteBranch(ended, parts)).toBe(false);
    expect(git(source, 'rev-parse', branch)).toBe(moved);
    expect(await standingBranches([published], parts)).toEqual([]);
    git(source, 'branch', '-q', '-D', branch);
    expect(await standingBranches([published], parts)).toEqual([]);
  });

  it('stays when its work cannot be saved', async () => {
    const { source, parts, ended, names } = scene();
    writeFileSync(path.join(source, '.git/refs/baton'), 'in the way');
    await expect(deleteBranch(ended, parts)).rejects.toThrow();
    rmSync(path.join(source, '.git/refs/baton'));
    expect(names()).toEqual([`refs/heads/${branch}`, 'refs/heads/main']);
  });
});
