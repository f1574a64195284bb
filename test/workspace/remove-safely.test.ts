import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../property-runs.ts';
import { scratchFolder } from './scratch-folder.ts';
import { scratchWorkspaces, visit } from './scratch-workspaces.ts';

describe('the path of a removal', () => {
  it.each([
    // @conforms W8
    ['is the root', '', ''],
    // @conforms W8
    ['is the root by another name', '.', '.'],
    ['leads out of the root', '..', '..'],
    ['is named after the root of another', '', 'workspaces'],
    ['is that of another issue', 'T-2', 'T-1'],
    ['goes up and down again', '../workspaces/T-1', 'T-1'],
    ['ends with a slash', 'T-1/', 'T-1'],
    ['is a directory inside a workspace', 'T-1/T-3', 'T-3'],
    ['is an identifier that is not text', 'T-\ud800', 'T-\ud800'],
    ['has a NUL', 'T-1\0', 'T-1'],
  ])('leaves everything unchanged when it %s', async (_what, below, identifier) => {
    const { folder, root, workspaces } = scratchWorkspaces({ hooks: { beforeRemove: 'touch ../hooked' } });
    mkdirSync(path.join(root, 'T-1', 'T-3'), { recursive: true });
    mkdirSync(path.join(root, 'T-2'));
    const place = below === '' ? root : `${root}/${below}`;
    expect(await workspaces.remove({ path: place, identifier }, visit())).toMatchObject({ outcome: 'kept' });
    expect(readdirSync(folder)).toEqual(['home', 'workspaces']);
    expect(readdirSync(root)).toEqual(['T-1', 'T-2']);
    expect(readdirSync(path.join(root, 'T-1'))).toEqual(['T-3']);
  });

  it('leaves everything unchanged when it is relative', async () => {
    const { workspaces } = scratchWorkspaces();
    const removal = await workspaces.remove({ path: 'T-1', identifier: 'T-1' }, visit());
    expect(removal).toMatchObject({ outcome: 'kept', code: 'path_not_absolute' });
  });

  it('is never directly below the root of the file system', async () => {
    const { workspaces } = scratchWorkspaces();
    const removal = await workspaces.remove({ path: '/no-such-baton', identifier: 'no-such-baton' }, visit());
    expect(removal).toMatchObject({ outcome: 'kept', code: 'below_file_system_root' });
  });

  it('is never a home folder, or a folder that contains one or the root, even if an issue has its name', async () => {
    const { folder, home, workspaces } = scratchWorkspaces();
    const named = (at: string) => workspaces.remove({ path: at, identifier: path.basename(at) }, visit());
    expect(await named(home)).toMatchObject({ outcome: 'kept', code: 'holds_home' });
    expect(await named(folder)).toMatchObject({ outcome: 'kept', code: 'holds_root' });
    expect(existsSync(home)).toBe(true);
  });

  // @conforms removal.7
  it('leads to the removal of nothing but a real directory named after the issue', async () => {
    const piece = fc.constantFrom('workspaces', 'T-1', 'T-2', 'link', 'up', '..', '.', '', 'home');
    const pieces = fc.array(piece, { maxLength: 5 });
    const identifiers = fc.oneof(piece, fc.constantFrom('T-1', 'T-2', 'link'));
    let removals = 0;
    await fc.assert(
      fc.asyncProperty(pieces, identifiers, async (parts, identifier) => {
        const { folder, root, workspaces } = scratchWorkspaces({ root: path.join(scratchFolder(), 'current') });
        const old = path.join(folder, 'workspaces');
        mkdirSync(path.join(old, 'T-1'), { recursive: true });
        mkdirSync(path.join(old, 'T-2'));
        mkdirSync(path.join(folder, 'outside', 'T-1'), { recursive: true });
        symlinkSync(path.join(folder, 'outside'), path.join(old, 'link'));
        symlinkSync('..', path.join(old, 'T-1', 'up'));
        const wanted = [folder, ...parts].join('/');
        // Node resolves `..` as text, the system by the target of a link.
        const isPlain = path.normalize(wanted) === wanted && existsSync(wanted) && realpathSync(wanted) === wanted;
        const removal = await workspaces.remove({ path: wanted, identifier }, visit());
        if (removal.outcome === 'removed') {
          removals += 1;
          expect([isPlain, path.basename(wanted)]).toEqual([true, identifier]);
          expect(existsSync(wanted)).toBe(false);
        } else {
          expect(readdirSync(old)).toEqual(['T-1', 'T-2', 'link']);
        }
        expect(readdirSync(path.join(folder, 'outside'))).toEqual(['T-1']);
        expect(existsSync(path.join(folder, 'home'))).toBe(true);
        rmSync(folder, { recursive: true });
        rmSync(path.dirname(root), { recursive: true });
      }),
      {
        numRuns: runs(300),
        examples: [
          [['workspaces', 'T-1'], 'T-1'],
          [['workspaces', 'link', 'T-1'], 'T-1'],
          [['workspaces', 'link', '..', 'workspaces'], 'T-1'],
          [['workspaces', 'T-1', 'up', 'T-1'], 'T-1'],
        ],
      },
    );
    expect(removals).toBeGreaterThan(0);
  });
});

describe('a change during the removal of a workspace', () => {
  // The hook runs between the check and the removal: the worst time for a change.
  const scene = async (beforeRemove: string) => {
    const made = scratchWorkspaces({ hooks: { beforeRemove } });
    const { path: workspace } = await made.workspaces.prepare(visit());
    writeFileSync(path.join(workspace, 'notes.txt'), 'work');
    mkdirSync(path.join(made.folder, 'outside', 'deep'), { recursive: true });
    const removal = await made.workspaces.remove({ path: workspace, identifier: 'T-1' }, visit());
    return { ...made, workspace, removal };
  };

  // @conforms removal.2
  it('that adds a repository keeps the workspace under its own name', async () => {
    const { root, workspace, removal } = await scene('mkdir -p late/.git');
    expect(removal).toMatchObject({ outcome: 'kept', code: 'unsaved', reason: expect.stringContaining('late') });
    expect(readdirSync(root)).toEqual(['T-1']);
    expect(readdirSync(workspace)).toEqual(['late', 'notes.txt']);
  });

  it.each([
    ['a link to elsewhere', 'cd ..; mv T-1 moved; ln -s ../outside T-1'],
    ['a link to the real one', 'cd ..; mv T-1 moved; ln -s moved T-1'],
    ['another directory', 'cd ..; mv T-1 moved; mkdir T-1; touch T-1/new'],
    ['a file', 'cd ..; mv T-1 moved; echo new > T-1'],
  ])('that replaces it by %s is undone and nothing is deleted', async (_what, script) => {
    const { folder, root, removal } = await scene(script);
    expect(removal).toMatchObject({ outcome: 'kept', code: 'replaced' });
    expect(readdirSync(root)).toEqual(['T-1', 'moved']);
    expect(readdirSync(path.join(root, 'moved'))).toEqual(['notes.txt']);
    expect(readdirSync(path.join(folder, 'outside'))).toEqual(['deep']);
  });

  it('by its own hook that removes it makes it absent', async () => {
    const { root, removal } = await scene('rm -rf ../T-1');
    expect(removal).toEqual({ outcome: 'absent' });
    expect(readdirSync(root)).toEqual([]);
  });
});

describe('a removal that a crash interrupted', () => {
  const half = (root: string, name: string): string => {
    mkdirSync(path.join(root, name, 'rest'), { recursive: true });
    writeFileSync(path.join(root, name, 'rest', 'file'), '');
    return path.join(root, name);
  };

  // @conforms removal.8
  it('is finished by the next removal of the same issue, without the hook', async () => {
    const { root, workspaces, logger } = scratchWorkspaces({ hooks: { beforeRemove: 'touch ../hooked' } });
    for (const name of ['+removing+T-1+1', '+removing+T-1+2', '+removing+T-10+1', '+removing+x+T-1+1'])
      half(root, name);
    const place = { path: path.join(root, 'T-1'), identifier: 'T-1' };
    expect(await workspaces.remove(place, visit())).toEqual({ outcome: 'removed', saved: [] });
    expect(readdirSync(root)).toEqual(['+removing+T-10+1', '+removing+x+T-1+1']);
    expect(await workspaces.remove(place, visit())).toEqual({ outcome: 'absent' });
    expect(logger.lines.map(({ level }) => level)).toEqual(['info', 'info']);
  });

  it('is finished together with a workspace that was created since', async () => {
    const { root, workspaces } = scratchWorkspaces();
    half(root, '+removing+T-1+1');
    const { path: workspace, created } = await workspaces.prepare(visit());
    expect(created).toBe(true);
    expect(await workspaces.remove({ path: workspace, identifier: 'T-1' }, visit())).toEqual({
      outcome: 'removed',
      saved: [],
    });
    expect(readdirSync(root)).toEqual([]);
  });

  // @conforms 2.18
  it('is finished at the start of a daemon, and nothing else is removed', async () => {
    const { folder, root, workspaces, logger } = scratchWorkspaces();
    half(root, '+removing+T-1+1');
    half(root, '+removing+a_b--c14cddc033f64b9d+12');
    for (const name of ['T-1', 'removing', '+removing+', '+removing+T-1', '+removing+T-1+', '+making+T-1'])
      half(root, name);
    half(folder, 'outside');
    symlinkSync(path.join(folder, 'outside'), path.join(root, '+removing+T-3+1'));
    writeFileSync(path.join(root, '+removing+T-4+1'), '');
    mkdirSync(path.join(root, '+removing+T-5+1', '.git'), { recursive: true });
    await workspaces.finishRemovals(root);
    expect(readdirSync(root).sort()).toEqual(
      [
        ...['T-1', 'removing', '+removing+', '+removing+T-1', '+removing+T-1+', '+making+T-1'],
        ...['+removing+T-3+1', '+removing+T-4+1', '+removing+T-5+1'],
      ].sort(),
    );
    expect(readdirSync(path.join(folder, 'outside', 'rest'))).toEqual(['file']);
    expect(logger.lines.map(({ level }) => level)).toEqual(['info', 'warn', 'warn', 'warn', 'info']);
    expect(logger.lines[3]?.fields).toMatchObject({
      path: path.join(root, '+removing+T-5+1'),
      code: 'unsaved',
    });
  });

  it('is kept and reported when the directory contains a repository after all', async () => {
    const { root, workspaces } = scratchWorkspaces();
    mkdirSync(path.join(root, '+removing+T-1+1', '.git'), { recursive: true });
    const removal = await workspaces.remove({ path: path.join(root, 'T-1'), identifier: 'T-1' }, visit());
    expect(removal).toMatchObject({ outcome: 'kept', reason: expect.stringContaining('+removing+T-1+1') });
    expect(readdirSync(root)).toEqual(['+removing+T-1+1']);
  });

  it('does nothing for a root that is missing or not a directory', async () => {
    const { folder, workspaces, logger } = scratchWorkspaces();
    await workspaces.finishRemovals(path.join(folder, 'nowhere'));
    expect(logger.lines).toEqual([]);
    writeFileSync(path.join(folder, 'file'), '');
    await workspaces.finishRemovals(path.join(folder, 'file'));
    expect(logger.lines).toMatchObject([{ level: 'warn' }]);
  });
});
