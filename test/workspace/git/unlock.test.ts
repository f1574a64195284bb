import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { unlockGitDirectory } from '../../../src/workspace/git/checkout/unlock.ts';
import { rejection, scratchFolder } from '../scratch-folder.ts';
import { shell } from './examine-scene.ts';

const two = 'git init -q .; git commit -q --allow-empty -m 1; git commit -q --allow-empty -m 2; git branch a/b';

function locked(...names: readonly string[]): string {
  const folder = scratchFolder();
  shell(two, folder);
  for (const name of names) {
    mkdirSync(path.dirname(path.join(folder, '.git', name)), { recursive: true });
    writeFileSync(path.join(folder, '.git', name), '');
  }
  return folder;
}

describe('a git directory that a killed git left locked', () => {
  const locks = [
    ...['index.lock', 'HEAD.lock', 'config.lock', 'packed-refs.lock', 'shallow.lock', 'logs/HEAD.lock'],
    ...['refs/heads/main.lock', 'refs/heads/a/b.lock', 'refs/heads/objects/hooks/x.lock', 'refs/stash.lock'],
    ...['objects/info/commit-graph.lock', 'objects/pack/multi-pack-index.lock', 'modules/sub/index.lock'],
  ];

  it('has no lock afterwards, reports each removed one, and works again', async () => {
    const folder = locked(...locks);
    expect(() => shell('echo x > x; git add x; git commit -qm x', folder)).toThrow(/lock/);
    const removed = await unlockGitDirectory(path.join(folder, '.git'));
    expect([...removed].sort()).toEqual([...locks].sort());
    shell('echo x > x; git add x; git commit -qm x; git pack-refs --all; git config a.b c; git fsck', folder);
    expect(await unlockGitDirectory(path.join(folder, '.git'))).toEqual([]);
  });

  it('keeps all files that are not locks of git', async () => {
    const others = ['hooks/x.lock', 'locked', 'x.lock.txt', 'lfs/x.lock'];
    const folder = locked(...others);
    mkdirSync(path.join(folder, '.git/folder.lock'));
    symlinkSync('HEAD', path.join(folder, '.git/link.lock'));
    shell('mkfifo .git/pipe.lock; echo x > Cargo.lock', folder);
    expect(await unlockGitDirectory(path.join(folder, '.git'))).toEqual([]);
    for (const name of [...others, 'folder.lock', 'link.lock', 'pipe.lock', '../Cargo.lock'])
      expect(existsSync(path.join(folder, '.git', name))).toBe(true);
  });

  it('follows no link, neither inside nor to it', async () => {
    const folder = locked();
    const out = locked('refs/heads/main.lock', 'index.lock');
    symlinkSync(path.join(out, '.git'), path.join(folder, 'git'));
    shell(`mv .git/refs .git/old; ln -s '${out}/.git/refs' .git/refs; ln -s '${out}/.git' .git/modules`, folder);
    expect(await unlockGitDirectory(path.join(folder, '.git'))).toEqual([]);
    expect(await unlockGitDirectory(path.join(folder, 'git'))).toEqual([]);
    expect(existsSync(path.join(out, '.git/refs/heads/main.lock'))).toBe(true);
  });

  // @conforms git.5
  it('of a linked worktree is unlocked without touching its repository', async () => {
    const folder = locked('index.lock', 'refs/heads/a/b.lock');
    shell('git worktree add -q wt -b wt', folder);
    const own = path.join(folder, '.git/worktrees/wt');
    writeFileSync(path.join(own, 'index.lock'), '');
    expect(await unlockGitDirectory(own)).toEqual(['index.lock']);
    expect(existsSync(path.join(folder, '.git/index.lock'))).toBe(true);
    expect(existsSync(path.join(folder, '.git/refs/heads/a/b.lock'))).toBe(true);
  });

  it('may be missing, or be a file', async () => {
    const folder = scratchFolder();
    writeFileSync(path.join(folder, 'file'), '');
    for (const name of ['nowhere', 'file']) expect(await unlockGitDirectory(path.join(folder, name))).toEqual([]);
  });

  it('is not walked without end', async () => {
    const folder = locked();
    shell('mkdir .git/refs/many; cd .git/refs/many; seq 200 | xargs touch', folder);
    expect(await rejection(unlockGitDirectory(path.join(folder, '.git'), 200))).toMatchObject({
      code: 'workspace_unavailable',
    });
  });
});
