import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { WorkspaceSettings } from '../../src/core/settings.ts';
import { refuseSharedRoot } from '../../src/workspace/another-daemon.ts';
import type { Removal } from '../../src/workspace/workspace.ts';
import { commit, git, scratchRepository } from './git/scratch-repository.ts';
import { rejection, scratchFolder } from './scratch-folder.ts';
import { type Changes, scratchWorkspaces, visit } from './scratch-workspaces.ts';

/** Workspaces filled from their own repository. */
function filled(workspace: Partial<WorkspaceSettings> = {}, changes: Changes = {}) {
  const source = scratchRepository(path.join(scratchFolder(), 'project'));
  const repo = { location: source, shown: source, isLocal: true };
  const scene = scratchWorkspaces({
    ...changes,
    workspace: { repo, strategy: 'worktree', copyFrom: source, ...workspace },
  });
  const place = { path: path.join(scene.root, 'T-1'), identifier: 'T-1' };
  return { ...scene, source, place, remove: (): Promise<Removal> => scene.workspaces.remove(place, visit()) };
}

describe.each(['worktree', 'clone'] as const)('a workspace of the strategy %s', (strategy) => {
  it('starts with the files of the base on its own branch, after setup and after_create', async () => {
    const { workspaces, place, source } = filled(
      { strategy, setup: 'git rev-parse --abbrev-ref HEAD > set-up' },
      { hooks: { afterCreate: 'cat set-up README.md > created' } },
    );
    const made = await workspaces.prepare(visit());
    expect(made).toMatchObject({ path: place.path, created: true });
    expect(made.gitDir === null).toBe(strategy === 'clone');
    expect(readFileSync(path.join(place.path, 'created'), 'utf8')).toBe('baton/t-1\nhello\n');
    expect(git(place.path, 'rev-parse', 'HEAD')).toBe(git(source, 'rev-parse', 'main'));
  });

  it("publishes the agent's commits after each run, and no uncommitted work", async () => {
    const { workspaces, place, source } = filled({ strategy });
    const made = await workspaces.prepare(visit());
    const first = commit(place.path, { 'src/b.txt': 'two\n' });
    writeFileSync(path.join(place.path, 'loose.txt'), 'not yet');
    await workspaces.afterRun(made, visit());
    expect(git(source, 'rev-parse', 'baton/t-1')).toBe(first);
    const second = commit(place.path, { 'src/b.txt': 'three\n' });
    await workspaces.afterRun(made, visit());
    expect(git(source, 'rev-parse', 'baton/t-1')).toBe(second);
    expect(git(source, 'status', '--porcelain')).toBe('');
  });

  it('has its commits copied while it is examined at the end of a turn, and no branch moved before the end of the run', async () => {
    const { workspaces, place, source } = filled({ strategy });
    const made = await workspaces.prepare(visit());
    const first = commit(place.path, { 'src/b.txt': 'two\n' });
    const isThere = (): boolean => git(source, 'cat-file', '--batch-all-objects', '--batch-check').includes(first);
    const facts = await workspaces.examine(place.path);
    expect([facts?.git?.head, isThere()]).toEqual([first, false]);
    expect(await workspaces.examine(place.path, { publishes: true })).toEqual(facts);
    await expect.poll(isThere).toBe(true);
    expect(git(source, 'branch', '--list', 'baton/*')).toBe('');
    expect(await workspaces.afterRun(made, visit())).toMatchObject({ outcome: 'published', commit: first });
  });

  it('is reused unchanged, without a lock that a killed run left', async () => {
    const { workspaces, place } = filled({ strategy });
    const { gitDir } = await workspaces.prepare(visit());
    writeFileSync(path.join(place.path, 'README.md'), 'edited\n');
    const lock = path.join(gitDir ?? path.join(place.path, '.git'), 'index.lock');
    writeFileSync(lock, '');
    expect(await workspaces.prepare(visit())).toMatchObject({ created: false, gitDir });
    expect(existsSync(lock)).toBe(false);
    expect(git(place.path, 'status', '--porcelain')).toBe(' M README.md');
  });

  it('is refused by a daemon with another state folder, at its start and by each run', async () => {
    const first = filled({ strategy });
    await first.workspaces.prepare(visit());
    const refusal = { code: 'workspace_of_another_daemon', details: { state_dir: first.stateDir } };
    const repo = { location: first.source, shown: first.source, isLocal: true };
    const second = scratchWorkspaces({ root: first.root, workspace: { repo, strategy, copyFrom: first.source } });
    expect(await rejection(second.workspaces.prepare(visit()))).toMatchObject(refusal);
    const start = (root: string, of: typeof strategy | 'none', { resources }: typeof second) =>
      refuseSharedRoot({ root, strategy: of }, resources.places);
    expect(await rejection(start(first.root, strategy, second))).toMatchObject(refusal);
    await start(first.root, 'none', second);
    await start(first.root, strategy, first);
    await start(second.root.concat('-missing'), strategy, second);
    expect(await first.workspaces.prepare(visit())).toMatchObject({ created: false });
  });

  it('of a state folder that is gone is of no other daemon: with a git directory of its own it is used as it is', async () => {
    const first = filled({ strategy });
    await first.workspaces.prepare(visit());
    rmSync(first.stateDir, { recursive: true });
    const repo = { location: first.source, shown: first.source, isLocal: true };
    const second = scratchWorkspaces({ root: first.root, workspace: { repo, strategy, copyFrom: first.source } });
    await refuseSharedRoot({ root: first.root, strategy }, second.resources.places);
    const prepared = second.workspaces.prepare(visit());
    // The git directory of a worktree was in that folder.
    if (strategy === 'worktree') expect(await rejection(prepared)).toMatchObject({ code: 'workspace_unavailable' });
    else expect(await prepared).toMatchObject({ created: false });
  });

  it('reports commits, changes and new files of a run, and no ignored or unchanged files', async () => {
    const { workspaces, place, source } = filled({ strategy });
    commit(source, { '.gitignore': 'out/\n' });
    await workspaces.prepare(visit());
    const before = await workspaces.examine(place.path);
    expect(before?.git).toMatchObject({ branch: 'baton/t-1', ahead: 0, changed: 0, untracked: 0, conflicts: 0 });
    mkdirSync(path.join(place.path, 'out'));
    writeFileSync(path.join(place.path, 'out', 'x'), 'built');
    writeFileSync(path.join(place.path, 'README.md'), 'hello\n');
    expect((await workspaces.examine(place.path))?.fingerprint).toBe(before?.fingerprint);
    writeFileSync(path.join(place.path, 'README.md'), 'hullo\n');
    writeFileSync(path.join(place.path, 'new.txt'), '');
    const dirty = await workspaces.examine(place.path);
    expect(dirty).toMatchObject({ git: { ahead: 0, changed: 1, untracked: 1 } });
    expect(dirty?.fingerprint).not.toBe(before?.fingerprint);
    commit(place.path, {});
    expect(await workspaces.examine(place.path)).toMatchObject({ git: { ahead: 1, changed: 0, untracked: 0 } });
    commit(place.path, { 'more.txt': '' });
    const listed = async (most: number) => (await workspaces.examine(place.path, { commits: most }))?.commits;
    const [newest, older] = (await listed(9)) ?? [];
    expect(newest).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{40}$/), subject: expect.any(String) });
    expect(await listed(9)).toHaveLength(2);
    expect(await listed(1)).toEqual([newest]);
    expect(older?.id).not.toBe(newest?.id);
  });

  it('is removed with its record when all of its work exists elsewhere', async () => {
    const { workspaces, place, stateDir, root, source, remove } = filled({ strategy });
    const made = await workspaces.prepare(visit());
    commit(place.path, { 'src/b.txt': 'two\n' });
    await workspaces.afterRun(made, visit());
    expect(await remove()).toEqual({ outcome: 'removed', saved: [] });
    expect(readdirSync(root)).toEqual([]);
    expect(readdirSync(path.join(stateDir, 'git', 'checkouts'))).toEqual([]);
    expect(git(source, 'for-each-ref', 'refs/baton')).toBe('');
  });

  // @conforms removal.3
  it('has its uncommitted work saved in the repository before it is removed', async () => {
    const { workspaces, place, source, remove } = filled({ strategy });
    await workspaces.prepare(visit());
    writeFileSync(path.join(place.path, 'README.md'), 'edited\r\n');
    writeFileSync(path.join(place.path, 'new.bin'), Buffer.from([0, 255, 13, 10]));
    const removal = await remove();
    expect(removal).toMatchObject({ outcome: 'removed', saved: [{ files: 2, commits: 0 }] });
    const [reference] = git(source, 'for-each-ref', '--format=%(refname)', 'refs/baton/salvage/T-1').split('\n');
    expect(git(source, 'show', `${reference}:README.md`)).toBe('edited\r');
    expect(git(source, 'rev-parse', `${reference}:new.bin`)).toMatch(/^[0-9a-f]{40}$/);
    expect(git(source, 'status', '--porcelain')).toBe('');
  });

  // @conforms F076
  it('is created again after its removal on its old branch, whose commits it continues', async () => {
    const { workspaces, place, remove } = filled({ strategy });
    const made = await workspaces.prepare(visit());
    const work = commit(place.path, { 'src/b.txt': 'two\n' });
    await workspaces.afterRun(made, visit());
    await remove();
    expect(await workspaces.prepare(visit())).toMatchObject({ created: true });
    expect(git(place.path, 'rev-parse', 'baton/t-1')).toBe(work);
  });

  it('does not exist when it cannot be filled, reports why, and is created when it can be', async () => {
    const { workspaces, root, source } = filled({ strategy, base: 'nosuch' });
    const error = await rejection(workspaces.prepare(visit()));
    expect(error).toMatchObject({ code: 'repository_unavailable', message: expect.stringContaining('nosuch') });
    expect(readdirSync(root)).toEqual([]);
    git(source, 'branch', 'nosuch');
    expect(await workspaces.prepare(visit())).toMatchObject({ created: true });
  });

  it('is created again from the beginning when its setup fails', async () => {
    const { workspaces, root, folder } = filled({ strategy, setup: 'test -e ../../ready || { touch made; exit 3; }' });
    const error = await rejection(workspaces.prepare(visit()));
    expect(error).toMatchObject({ code: 'workspace_hook_failed', details: { hook: 'workspace.setup', status: 3 } });
    expect(readdirSync(root)).toEqual([]);
    writeFileSync(path.join(folder, 'ready'), '');
    const { path: workspace } = await workspaces.prepare(visit());
    expect(existsSync(path.join(workspace, 'made'))).toBe(false);
  });
});

describe('ten workspaces of one repository at the same time', () => {
  it('are all created, each with its own branch, and none sees the work of another', async () => {
    const { workspaces, root, source } = filled();
    const names = Array.from({ length: 10 }, (_, at) => `T-${at + 1}`);
    const made = await Promise.all(names.map((identifier) => workspaces.prepare(visit({ identifier }))));
    expect(made.every(({ created }) => created)).toBe(true);
    expect(new Set(made.map(({ gitDir }) => gitDir)).size).toBe(10);
    for (const name of names) commit(path.join(root, name), { [`${name}.txt`]: name });
    await Promise.all(made.map((one, at) => workspaces.afterRun(one, visit({ identifier: names[at] ?? '' }))));
    for (const name of names)
      expect(git(source, 'diff', '--name-only', 'main', `baton/${name.toLowerCase()}`)).toBe(`${name}.txt`);
  });
});

describe('a workspace that another program deleted', () => {
  it('is filled again from its own commits, which are in the state folder', async () => {
    const { workspaces, place } = filled();
    await workspaces.prepare(visit());
    const work = commit(place.path, { 'src/b.txt': 'two\n' });
    rmSync(place.path, { recursive: true });
    expect(await workspaces.prepare(visit())).toMatchObject({ created: true });
    expect(git(place.path, 'rev-parse', 'HEAD')).toBe(work);
    expect(git(place.path, 'status', '--porcelain')).toBe('');
  });
});

describe('a workspace that was deleted before its removal', () => {
  it('has its commits published and saved all the same', async () => {
    const { workspaces, place, source, root, remove, stateDir } = filled();
    await workspaces.prepare(visit());
    const work = commit(place.path, { 'src/b.txt': 'two\n' });
    git(place.path, 'switch', '-q', '-c', 'side');
    const side = commit(place.path, { 'src/c.txt': 'three\n' });
    git(place.path, 'switch', '-q', 'baton/t-1');
    rmSync(place.path, { recursive: true });
    expect(await workspaces.isThere(place.path)).toBe(true);
    expect(await remove()).toMatchObject({ outcome: 'removed', saved: [{ files: 0, commits: 1 }] });
    expect(git(source, 'rev-parse', 'baton/t-1')).toBe(work);
    const reference = git(source, 'for-each-ref', '--format=%(refname)', 'refs/baton');
    expect(git(source, 'merge-base', side, reference)).toBe(side);
    expect(readdirSync(root)).toEqual([]);
    expect(readdirSync(path.join(stateDir, 'git', 'checkouts'))).toEqual([]);
    expect(await workspaces.isThere(place.path)).toBe(false);
  });

  it('is forgotten when it had no work', async () => {
    const { workspaces, place, remove, source, stateDir } = filled();
    await workspaces.prepare(visit());
    rmSync(place.path, { recursive: true });
    // No one has to be asked for that.
    rmSync(source, { recursive: true });
    expect(await remove()).toEqual({ outcome: 'absent' });
    expect(readdirSync(path.join(stateDir, 'git', 'checkouts'))).toEqual([]);
    expect(await workspaces.isThere(place.path)).toBe(false);
  });
});

describe('an interrupted removal', () => {
  // @conforms removal.4
  it('is finished after its rename, with the work saved once, for the issue it belonged to', async () => {
    const { workspaces, root, place, source, logger } = filled();
    await workspaces.prepare(visit());
    writeFileSync(path.join(place.path, 'new.txt'), 'work');
    const doomed = path.join(root, '+removing+T-1+1');
    const note = { issue: { id: 'id-1', identifier: 'T-1', title: 'A title' }, runId: 'run-1', attempt: null };
    writeFileSync(`${doomed}.json`, JSON.stringify(note));
    renameSync(place.path, doomed);
    await workspaces.finishRemovals(root);
    expect(readdirSync(root)).toEqual([]);
    expect(git(source, 'for-each-ref', '--format=%(refname)', 'refs/baton')).toBe('refs/baton/salvage/T-1/run-1');
    expect(logger.lines.at(-1)?.fields).toMatchObject({ saved: [{ name: 'T-1/run-1', files: 1 }] });
  });

  // @conforms removal.5
  it('is only deleted after the work was saved: no half-deleted files are saved over it', async () => {
    const { workspaces, root, source } = filled();
    const { path: workspace } = await workspaces.prepare(visit());
    rmSync(path.join(workspace, 'README.md'));
    renameSync(workspace, path.join(root, '+deleting+T-1+1'));
    await workspaces.finishRemovals(root);
    expect(readdirSync(root)).toEqual([]);
    expect(git(source, 'for-each-ref', 'refs/baton')).toBe('');
  });

  it('is finished before the issue gets its next workspace', async () => {
    const { workspaces, root, place, source } = filled();
    await workspaces.prepare(visit());
    writeFileSync(path.join(place.path, 'new.txt'), 'work');
    renameSync(place.path, path.join(root, '+removing+T-1+1'));
    expect(await workspaces.prepare(visit())).toMatchObject({ created: true });
    expect(readdirSync(root)).toEqual(['T-1']);
    expect(git(place.path, 'status', '--porcelain')).toBe('');
    expect(git(source, 'for-each-ref', '--format=%(refname)', 'refs/baton')).toMatch(/^refs\/baton\/salvage\/T-1\//);
  });
});

describe('a workspace without a strategy', () => {
  // @conforms removal.6
  it('has its work saved in the state folder when a hook cloned a repository', async () => {
    const source = scratchRepository(path.join(scratchFolder(), 'project'));
    const { workspaces, root, stateDir } = scratchWorkspaces({ hooks: { afterCreate: `git clone -q '${source}' .` } });
    const { path: workspace } = await workspaces.prepare(visit());
    commit(workspace, { 'a.txt': 'committed' });
    writeFileSync(path.join(workspace, 'b.txt'), 'not committed');
    const removal = await workspaces.remove({ path: workspace, identifier: 'T-1' }, visit());
    expect(removal).toMatchObject({ outcome: 'removed', saved: [{ files: 1 }] });
    expect(readdirSync(root)).toEqual([]);
    const salvage = path.join(stateDir, 'git', 'salvage.git');
    const reference = git(salvage, 'for-each-ref', '--format=%(refname)', 'refs/baton');
    expect(git(salvage, 'show', `${reference}:b.txt`)).toBe('not committed');
    expect(git(salvage, 'log', '--format=%s', reference)).toContain('a change');
    expect(git(source, 'for-each-ref', 'refs/baton')).toBe('');
  });

  it('is saved as an archive if the settings say so, when it is not a repository', async () => {
    const { workspaces, root, stateDir } = scratchWorkspaces({ workspace: { archive: true } });
    const { path: workspace } = await workspaces.prepare(visit());
    writeFileSync(path.join(workspace, 'notes.txt'), 'work');
    const removal = await workspaces.remove({ path: workspace, identifier: 'T-1' }, visit());
    expect(removal).toMatchObject({ outcome: 'removed', saved: [{ files: 1, commits: 0 }] });
    expect(readdirSync(root)).toEqual([]);
    expect(readdirSync(path.join(stateDir, 'git', 'archives', 'T-1')).length).toBeGreaterThan(0);
  });
});
