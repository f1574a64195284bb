import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { rejection } from '../scratch-folder.ts';
import { gitIn, makeRepository, requestFor, salvageScene, savedBy, write } from './salvage-scene.ts';

/** Saves and restores; returns git's status of the files before and after. */
async function throughAndBack(change: (workspace: string) => void) {
  const { salvage, workspace, folder } = salvageScene();
  makeRepository(workspace, { 'a.txt': 'one\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
  change(workspace);
  const status = gitIn(workspace, 'status', '--porcelain');
  const [work] = savedBy(await salvage.save(requestFor(workspace)));
  if (work === undefined) throw new Error('nothing');
  const restored = path.join(folder, 'restored');
  const result = await salvage.restore(work, restored);
  return { workspace, restored, status, after: gitIn(restored, 'status', '--porcelain'), work, result };
}

/** Writes another tree into the cache-tree extension of an index. */
function forgeStagedTree(index: string, tree: string, other: string): void {
  const bytes = readFileSync(index);
  const at = bytes.indexOf(Buffer.from(tree, 'hex'));
  if (at < 0) throw new Error('The index notes no tree.');
  Buffer.from(other, 'hex').copy(bytes, at);
  const body = bytes.subarray(0, -20);
  writeFileSync(index, Buffer.concat([body, createHash('sha1').update(body).digest()]));
}

describe('staged work', () => {
  // @conforms git.42
  it('is staged again when the file has changed, is gone, or is the same', async () => {
    const { status, after, work, restored, result } = await throughAndBack((workspace) => {
      write(workspace, { 'new.txt': 'first', 'a.txt': 'staged\n', 'short.txt': 'short', 'same.txt': 'same' });
      gitIn(workspace, 'add', '-A');
      write(workspace, { 'new.txt': 'second', 'b.txt': 'not staged\n', 'loose.txt': 'loose' });
      rmSync(path.join(workspace, 'short.txt'));
      gitIn(workspace, 'rm', '-q', '--cached', 'c.txt');
    });
    expect(status.split('\n')).toEqual(
      expect.arrayContaining(['AM new.txt', 'AD short.txt', 'A  same.txt', 'D  c.txt', '?? c.txt', '?? loose.txt']),
    );
    expect(after).toBe(status);
    expect(gitIn(restored, 'show', ':new.txt')).toBe('first');
    expect(work).toMatchObject({ stagedFiles: 5, stagedOtherwise: 3 });
    expect(result.unstaged).toBeNull();
  });

  it('is staged again when it is everything, and nothing is staged when nothing was', async () => {
    const all = await throughAndBack((workspace) => {
      write(workspace, { 'a.txt': 'two\n', 'new.txt': 'new' });
      gitIn(workspace, 'add', '-A');
    });
    expect(all.after).toBe('M  a.txt\nA  new.txt');
    expect(all.work).toMatchObject({ stagedFiles: 2, stagedOtherwise: 0 });
    const none = await throughAndBack((workspace) => write(workspace, { 'a.txt': 'two\n', 'new.txt': 'new' }));
    expect(none.after).toBe(none.status);
    expect(none.work).toMatchObject({ stagedFiles: 0, stagedOtherwise: 0 });
  });

  it('is staged again before the first commit', async () => {
    const { salvage, workspace, folder } = salvageScene();
    gitIn(workspace, 'init', '-q', '-b', 'main');
    write(workspace, { 'a.txt': 'first' });
    gitIn(workspace, 'add', '-A');
    write(workspace, { 'a.txt': 'second' });
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    if (work === undefined) throw new Error('nothing');
    await salvage.restore(work, path.join(folder, 'restored'));
    expect(gitIn(path.join(folder, 'restored'), 'status', '--porcelain')).toBe('AM a.txt');
  });

  it('is refused when it has more files than any work tree', async () => {
    const { salvage, workspace, places } = salvageScene();
    makeRepository(workspace);
    write(workspace, { 'new.txt': 'new' });
    gitIn(workspace, 'add', '-A');
    const staged = gitIn(workspace, 'write-tree');
    let entries = `100644 blob ${gitIn(workspace, 'rev-parse', 'HEAD:a.txt')}\tf\n`;
    let tree = '';
    for (let depth = 0; depth < 10; depth += 1) {
      write(workspace, { '../entries': entries });
      tree = gitIn(workspace, '-c', 'alias.make=!git mktree < ../entries', 'make');
      entries = Array.from({ length: 10 }, (_, number) => `040000 tree ${tree}\t${number}\n`).join('');
    }
    forgeStagedTree(path.join(workspace, '.git', 'index'), staged, tree);
    expect((await rejection(salvage.save(requestFor(workspace)))).code).toBe('salvage_failed');
    expect(gitIn(places.salvage, 'for-each-ref')).toBe('');
  });

  it('is reported, and nothing else is lost, when git accepts it in no index', async () => {
    const { work, result, restored } = await throughAndBack((workspace) => {
      write(workspace, { 'x/git/config': 'evil', 'a.txt': 'two\n' });
      gitIn(workspace, 'add', '-A');
      // Git trusts the tree that an index records for its staged files.
      const tree = gitIn(workspace, 'write-tree');
      const inner = gitIn(workspace, 'rev-parse', `${tree}:x`);
      write(workspace, { '../entry': gitIn(workspace, 'ls-tree', inner).replace('\tgit', '\t.git') });
      const evil = gitIn(workspace, '-c', 'alias.make=!git mktree < ../entry', 'make');
      forgeStagedTree(path.join(workspace, '.git', 'index'), tree, evil);
      expect(gitIn(workspace, 'write-tree')).toBe(evil);
    });
    expect(work.stagedFiles).toBeGreaterThan(0);
    expect(result.unstaged).toMatch(/^[0-9a-f]{40}$/);
    expect(gitIn(restored, 'show', 'HEAD:a.txt')).toBe('one');
    expect(gitIn(restored, 'cat-file', '-t', result.unstaged ?? '')).toBe('tree');
  });
});
