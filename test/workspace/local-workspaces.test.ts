import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { rejection, scratchFolder } from './scratch-folder.ts';
import { scratchWorkspaces, visit } from './scratch-workspaces.ts';

describe('a workspace', () => {
  // @conforms W1, W13
  it('is an empty directory named after the issue, created once and reused', async () => {
    const { root, workspaces } = scratchWorkspaces();
    const first = await workspaces.prepare(visit({ identifier: 'MT/Det' }));
    expect(first).toEqual({ path: path.join(root, 'MT_Det--b45ad8f201f2d40b'), created: true, gitDir: null });
    expect(readdirSync(first.path)).toEqual([]);
    expect(await workspaces.prepare(visit({ identifier: 'MT/Det' }))).toEqual({ ...first, created: false });
  });

  // @conforms W2
  it('is never shared by two issues with similar names', async () => {
    const { root, workspaces } = scratchWorkspaces();
    const slash = await workspaces.prepare(visit({ identifier: 'team/a-1' }));
    const underscore = await workspaces.prepare(visit({ identifier: 'team_a-1' }));
    const borrowed = await workspaces.prepare(visit({ identifier: path.basename(slash.path) }));
    expect(underscore.path).toBe(path.join(root, 'team_a-1'));
    expect(new Set([slash.path, underscore.path, borrowed.path]).size).toBe(3);
    expect(borrowed.created).toBe(true);
  });

  // @conforms W4
  it('keeps its content when it is reused, and after_create does not run again', async () => {
    const { workspaces } = scratchWorkspaces({ hooks: { afterCreate: 'echo made >> README.md; mkdir deps tmp' } });
    const { path: folder } = await workspaces.prepare(visit());
    writeFileSync(path.join(folder, 'README.md'), 'edited');
    writeFileSync(path.join(folder, 'tmp', 'x'), 'kept');
    expect(await workspaces.prepare(visit())).toEqual({ path: folder, created: false, gitDir: null });
    expect(readFileSync(path.join(folder, 'README.md'), 'utf8')).toBe('edited');
    expect(readdirSync(folder).sort()).toEqual(['README.md', 'deps', 'tmp']);
    expect(readFileSync(path.join(folder, 'tmp', 'x'), 'utf8')).toBe('kept');
  });

  it('is created again from the beginning when a crash left it half-made', async () => {
    const { workspaces, root } = scratchWorkspaces({ hooks: { afterCreate: 'echo made > made.txt' } });
    mkdirSync(path.join(root, 'T-1'), { recursive: true });
    writeFileSync(path.join(root, 'T-1', 'half.txt'), '');
    writeFileSync(path.join(root, '+making+T-1'), '');
    const { path: folder, created } = await workspaces.prepare(visit({ identifier: 'T-1' }));
    expect(created).toBe(true);
    expect(readdirSync(folder)).toEqual(['made.txt']);
    expect(readdirSync(root)).toEqual(['T-1']);
  });

  it('W5, overruled by law 8: rejects a file in its place, and keeps the file', async () => {
    const { root, workspaces } = scratchWorkspaces();
    mkdirSync(root);
    writeFileSync(path.join(root, 'T-1'), 'precious');
    const error = await rejection(workspaces.prepare(visit()));
    const details = { problem: 'not_a_directory', path: path.join(root, 'T-1') };
    expect(error).toMatchObject({ code: 'workspace_unavailable', details });
    expect(readFileSync(path.join(root, 'T-1'), 'utf8')).toBe('precious');
  });

  it('rejects a symbolic link in its place, keeps it, and runs no hook behind it', async () => {
    const { folder, root, workspaces } = scratchWorkspaces({ hooks: { afterCreate: 'touch hooked' } });
    mkdirSync(root);
    mkdirSync(path.join(folder, 'outside'));
    symlinkSync(path.join(folder, 'outside'), path.join(root, 'T-1'));
    expect((await rejection(workspaces.prepare(visit()))).code).toBe('workspace_symlink_escape');
    expect(lstatSync(path.join(root, 'T-1')).isSymbolicLink()).toBe(true);
    expect(readdirSync(path.join(folder, 'outside'))).toEqual([]);
  });

  // @conforms W7
  it('works below a root that is a symbolic link, and has its real path', async () => {
    const folder = scratchFolder();
    mkdirSync(path.join(folder, 'real'));
    symlinkSync('real', path.join(folder, 'link'));
    const { workspaces } = scratchWorkspaces({
      root: path.join(folder, 'link'),
      hooks: { afterCreate: 'pwd > where' },
    });
    const made = await workspaces.prepare(visit());
    expect(made.path).toBe(path.join(folder, 'real', 'T-1'));
    expect(readFileSync(path.join(made.path, 'where'), 'utf8').trim()).toBe(made.path);
  });

  // @conforms X9
  it.each(['', '.', '..'])('rejects the identifier %j before any hook runs', async (identifier) => {
    const { folder, root, workspaces } = scratchWorkspaces({ hooks: { afterCreate: 'touch hooked' } });
    expect((await rejection(workspaces.prepare(visit({ identifier })))).code).toMatch(
      /^workspace_(equals|outside)_root$/,
    );
    expect(existsSync(root)).toBe(false);
    expect(readdirSync(folder)).toEqual(['home']);
  });

  it('reports its path when it cannot be created', async () => {
    const { root, workspaces } = scratchWorkspaces({ root: '/sys/baton-cannot-be-here' });
    const error = await rejection(workspaces.prepare(visit()));
    expect(error).toMatchObject({ code: 'workspace_unavailable', cause: expect.anything() });
    expect(error.message).toContain(root);
  });
});
