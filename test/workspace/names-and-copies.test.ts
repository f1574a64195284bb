import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { git, scratchRepository } from './git/scratch-repository.ts';
import { scratchFolder } from './scratch-folder.ts';
import { scratchWorkspaces, visit } from './scratch-workspaces.ts';

describe('a workspace with a long identifier', () => {
  it.each([200, 245, 1_000])('of %d characters can be created, reused and removed', async (length) => {
    const identifier = 'A'.repeat(length);
    const { workspaces, root } = scratchWorkspaces();
    const made = await workspaces.prepare(visit({ identifier }));
    scratchRepository(path.join(made.path, 'r'));
    writeFileSync(path.join(made.path, 'r', 'new.txt'), 'work');
    expect(await workspaces.prepare(visit({ identifier }))).toMatchObject({ created: false, path: made.path });
    const removal = await workspaces.remove({ path: made.path, identifier }, visit({ identifier }));
    expect(removal).toMatchObject({ outcome: 'removed', saved: [{ files: 1 }] });
    expect(readdirSync(root)).toEqual([]);
  });
});

describe.each(['worktree', 'clone'] as const)('a file that workspace.copy copied into a %s', (strategy) => {
  it('hides neither a folder that the agent makes with its name nor a file in it', async () => {
    const source = scratchRepository(path.join(scratchFolder(), 'project'));
    mkdirSync(path.join(source, 'cfg'));
    const names = ['notes.md', 'odd #[x]! ', 'cfg/a.json'];
    for (const name of names) writeFileSync(path.join(source, name), 'copied');
    const repo = { location: source, shown: source, isLocal: true };
    const { workspaces } = scratchWorkspaces({
      workspace: { repo, strategy, copy: ['notes.md', 'odd*', 'cfg'], copyFrom: source },
    });
    const made = await workspaces.prepare(visit());
    expect(git(made.path, 'status', '--porcelain', '-uall')).toBe('');
    expect((await workspaces.examine(made.path))?.git).toMatchObject({ untracked: 0 });
    for (const name of names) {
      rmSync(path.join(made.path, name));
      mkdirSync(path.join(made.path, name));
      writeFileSync(path.join(made.path, name, 'one.txt'), 'work');
    }
    expect(git(made.path, 'status', '--porcelain', '-uall').split('\n')).toHaveLength(3);
    expect((await workspaces.examine(made.path))?.git).toMatchObject({ untracked: 3 });
    const place = { path: made.path, identifier: 'T-1' };
    expect(await workspaces.remove(place, visit())).toMatchObject({ outcome: 'removed', saved: [{ files: 3 }] });
    expect(existsSync(made.path)).toBe(false);
    const saved = git(source, 'for-each-ref', '--format=%(refname)', 'refs/baton');
    expect(git(source, 'show', `${saved}:notes.md/one.txt`)).toBe('work');
  });
});
