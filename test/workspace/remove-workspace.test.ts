import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pidsWithArgument, uniqueNap } from '../process/real-children.ts';
import { type Changes, scratchWorkspaces, visit } from './scratch-workspaces.ts';

/** A workspace that an agent has worked in, and another one next to it. */
async function usedWorkspaces(changes: Changes = {}, identifier = 'T-1') {
  const scene = scratchWorkspaces(changes);
  const { path: folder } = await scene.workspaces.prepare(visit({ identifier }));
  writeFileSync(path.join(folder, 'notes.txt'), 'work');
  mkdirSync(path.join(folder, 'deep', 'er'), { recursive: true });
  writeFileSync(path.join(folder, 'deep', 'er', 'file'), 'work');
  const { path: beside } = await scene.workspaces.prepare(visit({ identifier: 'T-2' }));
  writeFileSync(path.join(beside, 'notes.txt'), 'other work');
  const remove = (at = folder, who = identifier) =>
    scene.workspaces.remove({ path: at, identifier: who }, visit({ identifier }));
  return { ...scene, workspace: folder, beside, remove };
}

function shell(script: string, cwd: string): void {
  execFileSync('sh', ['-ec', script], { cwd, stdio: 'pipe' });
}

const keepsTrace = 'echo hooked >> ../hooks.log';

describe('the workspace of a finished issue', () => {
  // @conforms W14
  it('is removed, and nothing next to it', async () => {
    const { root, beside, remove } = await usedWorkspaces();
    expect(await remove()).toEqual({ outcome: 'removed', saved: [] });
    expect(readdirSync(root)).toEqual(['T-2']);
    expect(readFileSync(path.join(beside, 'notes.txt'), 'utf8')).toBe('other work');
  });

  // @conforms W2
  it('is not confused with that of an issue with a similar name', async () => {
    const { workspaces, workspace, remove } = await usedWorkspaces({}, 'team/a-1');
    const { path: alike } = await workspaces.prepare(visit({ identifier: 'team_a-1' }));
    expect(await remove()).toEqual({ outcome: 'removed', saved: [] });
    expect(existsSync(workspace)).toBe(false);
    expect(existsSync(alike)).toBe(true);
  });

  // @conforms W16
  it('is reported as absent when it does not exist, and no hook runs', async () => {
    const { root, workspaces } = scratchWorkspaces({ hooks: { beforeRemove: keepsTrace } });
    const place = { path: workspaces.pathOf('T-1'), identifier: 'T-1' };
    expect(await workspaces.remove(place, visit())).toEqual({ outcome: 'absent' });
    mkdirSync(root);
    expect(await workspaces.remove(place, visit())).toEqual({ outcome: 'absent' });
    expect(readdirSync(root)).toEqual([]);
  });

  it('is created again, with after_create, when the issue becomes active again', async () => {
    const { workspaces, workspace, remove } = await usedWorkspaces({ hooks: { afterCreate: 'touch fresh' } });
    await remove();
    expect(await workspaces.prepare(visit())).toEqual({ path: workspace, created: true, gitDir: null });
    expect(readdirSync(workspace)).toEqual(['fresh']);
  });

  it('is removed with its marker when a crash left it half-made', async () => {
    const { root, remove } = await usedWorkspaces();
    writeFileSync(path.join(root, '+making+T-1'), '');
    expect(await remove()).toEqual({ outcome: 'removed', saved: [] });
    expect(readdirSync(root)).toEqual(['T-2']);
  });

  // @conforms O10
  it('is removed below the root it was created in, even if the root has changed', async () => {
    const old = await usedWorkspaces();
    const now = await usedWorkspaces();
    const removal = await now.workspaces.remove({ path: old.workspace, identifier: 'T-1' }, visit());
    expect(removal).toEqual({ outcome: 'removed', saved: [] });
    expect(readdirSync(old.root)).toEqual(['T-2']);
    expect(readdirSync(now.root)).toEqual(['T-1', 'T-2']);
  });

  it('has a path that can be read without creating it', () => {
    const { root, workspaces } = scratchWorkspaces();
    expect(workspaces.pathOf('a/b')).toBe(path.join(root, 'a_b--c14cddc033f64b9d'));
    expect(() => workspaces.pathOf('..')).toThrow(expect.objectContaining({ code: 'workspace_outside_root' }));
    expect(existsSync(root)).toBe(false);
  });

  it('is removed with everything that a file system can hold, but not the targets of its links', async () => {
    const { folder, root, workspace, remove } = await usedWorkspaces();
    mkdirSync(path.join(folder, 'outside', '.git'), { recursive: true });
    writeFileSync(path.join(folder, 'outside', 'precious'), '');
    symlinkSync(path.join(folder, 'outside'), path.join(workspace, 'link'));
    symlinkSync('loop', path.join(workspace, 'loop'));
    shell('mkfifo pipe; mkdir "$(printf "bad\\377\\nname")"; touch "$(printf "bad\\377\\nname/x")"', workspace);
    expect(await remove()).toEqual({ outcome: 'removed', saved: [] });
    expect(readdirSync(root)).toEqual(['T-2']);
    expect(readdirSync(path.join(folder, 'outside')).sort()).toEqual(['.git', 'precious']);
  });

  it('is removed with directories that a tool has write-protected', async () => {
    const { root, workspace, remove } = await usedWorkspaces();
    chmodSync(path.join(workspace, 'deep', 'er'), 0o500);
    chmodSync(path.join(workspace, 'deep'), 0o500);
    expect(await remove()).toEqual({ outcome: 'removed', saved: [] });
    expect(readdirSync(root)).toEqual(['T-2']);
  });
});

describe('the hook before_remove', () => {
  // @conforms W17
  it('with several lines runs once, in the workspace, before the removal', async () => {
    const beforeRemove = 'set -e\n# what is left\nls > ../left.txt\npwd >> ../hooks.log\n';
    const hooks = { afterCreate: 'echo made >> ../made.log', beforeRemove };
    const { root, workspaces, workspace, remove } = await usedWorkspaces({ hooks });
    await workspaces.prepare(visit());
    expect(await remove()).toEqual({ outcome: 'removed', saved: [] });
    expect(await remove()).toEqual({ outcome: 'absent' });
    expect(readFileSync(path.join(root, 'hooks.log'), 'utf8')).toBe(`${workspace}\n`);
    expect(readFileSync(path.join(root, 'left.txt'), 'utf8')).toBe('deep\nnotes.txt\n');
    expect(readFileSync(path.join(root, 'made.log'), 'utf8')).toBe('made\nmade\n');
  });

  // @conforms W19
  it('is logged with shortened output when it fails, and changes nothing', async () => {
    const beforeRemove = 'head -c 3000 /dev/zero | tr "\\0" x; exit 17';
    const { root, logger, remove } = await usedWorkspaces({ hooks: { beforeRemove } });
    expect(await remove()).toEqual({ outcome: 'removed', saved: [] });
    expect(readdirSync(root)).toEqual(['T-2']);
    const details = { hook: 'before_remove', status: 17, output: `${'x'.repeat(2_048)}... (truncated)` };
    expect(logger.lines).toMatchObject([
      { level: 'warn', fields: { issue_identifier: 'T-1', error: { code: 'workspace_hook_failed', details } } },
    ]);
  });

  // @conforms W20
  it('is ended with everything it started when it takes too long, and changes nothing', async () => {
    const nap = uniqueNap();
    const hooks = { beforeRemove: `setsid sleep ${nap} & sleep ${nap}`, timeoutMs: 3_000 };
    const { root, logger, workspaces, workspace } = await usedWorkspaces({ hooks });
    // Also without a run, whose marker its processes would have.
    const nobody = { issue: visit().issue, runId: null, attempt: null };
    const removing = workspaces.remove({ path: workspace, identifier: 'T-1' }, nobody);
    await expect.poll(() => pidsWithArgument(nap)).toHaveLength(2);
    expect(await removing).toEqual({ outcome: 'removed', saved: [] });
    expect(pidsWithArgument(nap)).toEqual([]);
    expect(readdirSync(root)).toEqual(['T-2']);
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { error: { code: 'workspace_hook_timeout' } } }]);
    expect(logger.lines[0]?.fields).not.toHaveProperty('run_id');
  });

  it('changes nothing when it cannot be started', async () => {
    const { remove, root } = await usedWorkspaces({ hooks: { beforeRemove: 'true' }, env: { PATH: '/nowhere' } });
    expect(await remove()).toEqual({ outcome: 'removed', saved: [] });
    expect(readdirSync(root)).toEqual(['T-2']);
  });

  // @conforms X11
  it('gets the issue and its workspace, and no tracker secret', async () => {
    const changes = { hooks: { beforeRemove: 'env > ../env.txt' }, env: { KEY: 'canary' }, secrets: ['KEY'] };
    const { root, workspaces, workspace } = await usedWorkspaces(changes);
    const issue = { id: 'id-1', identifier: 'NEW-9', title: '$(touch pwned)' };
    await workspaces.remove({ path: workspace, identifier: 'T-1' }, { issue, runId: 'run-9', attempt: 2 });
    const env = readFileSync(path.join(root, 'env.txt'), 'utf8').split('\n');
    expect(env).toEqual(
      expect.arrayContaining([
        'BATON_ISSUE_ID=id-1',
        'BATON_ISSUE_IDENTIFIER=NEW-9',
        'BATON_ISSUE_TITLE=$(touch pwned)',
        `BATON_WORKSPACE=${workspace}`,
        'BATON_ATTEMPT=2',
        'BATON_RUN_ID=run-9',
      ]),
    );
    expect(env.join()).not.toContain('canary');
    expect(readdirSync(root).sort()).toEqual(['T-2', 'env.txt']);
  });

  it('keeps the workspace unchanged when it is cancelled', async () => {
    const nap = uniqueNap();
    const { workspaces, workspace } = await usedWorkspaces({ hooks: { beforeRemove: `sleep ${nap}` } });
    const giveUp = new AbortController();
    const place = { path: workspace, identifier: 'T-1' };
    const removing = workspaces.remove(place, visit({}, { signal: giveUp.signal }));
    await expect.poll(() => pidsWithArgument(nap)).toHaveLength(1);
    giveUp.abort();
    expect(await removing).toMatchObject({ outcome: 'kept', code: 'given_up' });
    expect(pidsWithArgument(nap)).toEqual([]);
    expect(readdirSync(workspace)).toEqual(['deep', 'notes.txt']);
  });
});

/** Without the files that the hook leaves. */
function workspacesIn(root: string): string[] {
  return readdirSync(root).filter((name) => name !== 'hooks.log');
}

describe('a workspace is kept', () => {
  // @conforms removal.1
  it.each([
    ['a repository', 'mkdir .git'],
    ['a worktree, whose .git is a file', 'echo gitdir: elsewhere > .git'],
    ['a link called .git', 'ln -s /nowhere .git'],
    ['a repository far below', 'mkdir -p a/b/c/d/.git'],
    ['a repository below a name that is not text', 'mkdir -p "$(printf "bad\\377\\033[31m")/.git"'],
    ['a repository of a file system that does not tell .GIT from .git', 'mkdir -p a/.GIT'],
  ])('when it contains %s', async (_what, script) => {
    const { root, workspace, logger, remove } = await usedWorkspaces({ hooks: { beforeRemove: keepsTrace } });
    shell(script, workspace);
    const removal = await remove();
    expect(removal).toMatchObject({ outcome: 'kept', code: 'unsaved' });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test checks that there are none.
    expect(JSON.stringify(removal)).not.toMatch(/[\u0000-\u001f]|\\u001b|\\n/);
    expect(readFileSync(path.join(workspace, 'notes.txt'), 'utf8')).toBe('work');
    expect(workspacesIn(root)).toEqual(['T-1', 'T-2']);
    expect(logger.lines).toEqual([]);
  });

  it('when its paths are too long to be examined', async () => {
    const { workspace, root, remove } = await usedWorkspaces({ hooks: { beforeRemove: keepsTrace } });
    // No single path reaches it: the test makes two halves and joins them.
    const half = Array.from({ length: 14 }, () => 'd'.repeat(200)).join('/');
    mkdirSync(path.join(workspace, 'low', half, '.git'), { recursive: true });
    mkdirSync(path.join(workspace, 'high', half), { recursive: true });
    renameSync(path.join(workspace, 'low'), path.join(workspace, 'high', half, 'low'));
    onTestFinished(() => shell('rm -rf T-1', root));
    const removal = await remove();
    expect(removal).toMatchObject({ outcome: 'kept', reason: expect.stringContaining('ENAMETOOLONG') });
    expect(workspacesIn(root)).toEqual(['T-1', 'T-2']);
  });

  it.skipIf(process.getuid?.() === 0)('when a part of it cannot be read', async () => {
    const { workspace, remove } = await usedWorkspaces({ hooks: { beforeRemove: keepsTrace } });
    chmodSync(path.join(workspace, 'deep'), 0);
    onTestFinished(() => chmodSync(path.join(workspace, 'deep'), 0o700));
    expect(await remove()).toMatchObject({ outcome: 'kept', reason: expect.stringContaining('EACCES') });
  });

  it.skipIf(process.getuid?.() !== 0)('when it belongs to another user', async () => {
    const { workspace, root, remove } = await usedWorkspaces({ hooks: { beforeRemove: keepsTrace } });
    chownSync(workspace, 65_534, 65_534);
    expect(await remove()).toMatchObject({ outcome: 'kept', code: 'other_owner' });
    expect(workspacesIn(root)).toEqual(['T-1', 'T-2']);
  });

  it('when a file has its name', async () => {
    const { root, remove } = await usedWorkspaces();
    shell('mv T-1 away; echo precious > T-1', root);
    expect(await remove()).toMatchObject({ outcome: 'kept', code: 'not_a_directory' });
    expect(readFileSync(path.join(root, 'T-1'), 'utf8')).toBe('precious\n');
  });

  it.each(['outside', 'workspaces/T-2'])('when a link to %s has its name', async (target) => {
    const { folder, root, beside, remove } = await usedWorkspaces({ hooks: { beforeRemove: keepsTrace } });
    mkdirSync(path.join(folder, 'outside'));
    renameSync(path.join(root, 'T-1'), path.join(folder, 'away'));
    symlinkSync(path.join(folder, target), path.join(root, 'T-1'));
    expect(await remove()).toMatchObject({ outcome: 'kept', code: 'symbolic_link' });
    expect(lstatSync(path.join(root, 'T-1')).isSymbolicLink()).toBe(true);
    expect(workspacesIn(root)).toEqual(['T-1', 'T-2']);
    expect(readdirSync(beside)).toEqual(['notes.txt']);
  });

  it('when a link has replaced its root', async () => {
    const { folder, root, remove } = await usedWorkspaces({ hooks: { beforeRemove: keepsTrace } });
    renameSync(root, path.join(folder, 'away'));
    mkdirSync(path.join(folder, 'precious', 'T-1'), { recursive: true });
    symlinkSync('precious', root);
    expect(await remove()).toMatchObject({ outcome: 'kept' });
    expect(readdirSync(path.join(folder, 'precious'))).toEqual(['T-1']);
    expect(readdirSync(path.join(folder, 'away'))).toEqual(['T-1', 'T-2']);
  });
});
