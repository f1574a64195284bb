import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../property-runs.ts';
import { scratchFolder } from './scratch-folder.ts';
import { scratchWorkspaces, visit } from './scratch-workspaces.ts';

describe('the path of a removal is judged by itself', () => {
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
    ['is an identifier that is no text', 'T-\ud800', 'T-\ud800'],
    ['has a NUL', 'T-1\0', 'T-1'],
  ])('and nothing is touched when it %s', async (_what, below, identifier) => {
    const { folder, root, workspaces } = scratchWorkspaces({ hooks: { beforeRemove: 'touch ../hooked' } });
    mkdirSync(path.join(root, 'T-1', 'T-3'), { recursive: true });
    mkdirSync(path.join(root, 'T-2'));
    const place = below === '' ? root : `${root}/${below}`;
    expect(await workspaces.remove({ path: place, identifier }, visit())).toMatchObject({ outcome: 'kept' });
    expect(readdirSync(folder)).toEqual(['home', 'workspaces']);
    expect(readdirSync(root)).toEqual(['T-1', 'T-2']);
    expect(readdirSync(path.join(root, 'T-1'))).toEqual(['T-3']);
  });

  it('and nothing is touched when it is relative', async () => {
    const { workspaces } = scratchWorkspaces();
    const removal = await workspaces.remove({ path: 'T-1', identifier: 'T-1' }, visit());
    expect(removal).toMatchObject({ outcome: 'kept', code: 'path_not_absolute' });
  });

  it('and a place directly below the root of the file system is never a workspace', async () => {
    const { workspaces } = scratchWorkspaces();
    const removal = await workspaces.remove({ path: '/no-such-baton', identifier: 'no-such-baton' }, visit());
    expect(removal).toMatchObject({ outcome: 'kept', code: 'below_file_system_root' });
  });

  it('and a home folder, or what holds one or the root, stays when a ticket has its name', async () => {
    const { folder, home, workspaces } = scratchWorkspaces();
    const named = (at: string) => workspaces.remove({ path: at, identifier: path.basename(at) }, visit());
    expect(await named(home)).toMatchObject({ outcome: 'kept', code: 'holds_home' });
    expect(await named(folder)).toMatchObject({ outcome: 'kept', code: 'holds_root' });
    expect(existsSync(home)).toBe(true);
  });

  // @conforms removal.7
  it('and whatever it is made of, only a real directory named after the issue goes', async () => {
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
        // Node reads `..` by the letter, the system by where a link leads.
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

describe('what changes while a workspace is being removed', () => {
  // The hook runs between the look and the removal: the worst moment for anything to change.
  const scene = async (beforeRemove: string) => {
    const made = scratchWorkspaces({ hooks: { beforeRemove } });
    const { path: workspace } = await made.workspaces.prepare(visit());
    writeFileSync(path.join(workspace, 'notes.txt'), 'work');
    mkdirSync(path.join(made.folder, 'outside', 'deep'), { recursive: true });
    const removal = await made.workspaces.remove({ path: workspace, identifier: 'T-1' }, visit());
    return { ...made, workspace, removal };
  };

  // @conforms removal.2
  it('a repository that appears is kept, under its own name', async () => {
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
  ])('%s that takes its place is put back and nothing is deleted', async (_what, script) => {
    const { folder, root, removal } = await scene(script);
    expect(removal).toMatchObject({ outcome: 'kept', code: 'replaced' });
    expect(readdirSync(root)).toEqual(['T-1', 'moved']);
    expect(readdirSync(path.join(root, 'moved'))).toEqual(['notes.txt']);
    expect(readdirSync(path.join(folder, 'outside'))).toEqual(['deep']);
  });

  it('a workspace that its own hook removes is absent', async () => {
    const { root, removal } = await scene('rm -rf ../T-1');
    expect(removal).toEqual({ outcome: 'absent' });
    expect(readdirSync(root)).toEqual([]);
  });
});

describe('a removal that a crash cut short', () => {
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

  it('is finished together with a workspace that was made since', async () => {
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
  it('is finished at the start, and only that', async () => {
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

  it('that holds a repository after all is kept and told', async () => {
    const { root, workspaces } = scratchWorkspaces();
    mkdirSync(path.join(root, '+removing+T-1+1', '.git'), { recursive: true });
    const removal = await workspaces.remove({ path: path.join(root, 'T-1'), identifier: 'T-1' }, visit());
    expect(removal).toMatchObject({ outcome: 'kept', reason: expect.stringContaining('+removing+T-1+1') });
    expect(readdirSync(root)).toEqual(['+removing+T-1+1']);
  });

  it('leaves a root that is not there, or is none, alone', async () => {
    const { folder, workspaces, logger } = scratchWorkspaces();
    await workspaces.finishRemovals(path.join(folder, 'nowhere'));
    expect(logger.lines).toEqual([]);
    writeFileSync(path.join(folder, 'file'), '');
    await workspaces.finishRemovals(path.join(folder, 'file'));
    expect(logger.lines).toMatchObject([{ level: 'warn' }]);
  });
});
