import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { otherDisk } from '../scratch-folder.ts';
import { contentsOf, gitIn, makeRepository, requestFor, salvageScene, savedBy, write } from './salvage-scene.ts';

function object(workspace: string, type: string, content: string | Uint8Array): string {
  return execFileSync('git', ['hash-object', '-t', type, '-w', '--literally', '--stdin'], {
    cwd: workspace,
    input: content,
    encoding: 'utf8',
  }).trim();
}

function tree(workspace: string, entries: readonly (readonly [mode: string, name: string, id: string])[]): string {
  const bytes = entries.map(([mode, name, id]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
  );
  return object(workspace, 'tree', Buffer.concat(bytes));
}

describe('restoring', () => {
  const orders = ['folder first', 'link first'] as const;
  const cases = orders.flatMap((order) => [true, false].map((isChanged) => ({ order, isChanged })));

  // @conforms git.40
  it.each(cases)(
    'a tree with a name that is both a folder and a link touches no files of the person: %o',
    async (odd) => {
      const { salvage, workspace, folder } = salvageScene();
      const home = path.join(folder, 'home');
      write(home, { 'y/precious.txt': 'the person', z: 'keep' });
      const before = contentsOf(home);
      makeRepository(workspace);
      const file = gitIn(workspace, 'rev-parse', 'HEAD:a.txt');
      const link = ['120000', 'x', object(workspace, 'blob', home)] as const;
      const inner = ['40000', 'x', tree(workspace, [['100644', 'y', file]])] as const;
      const both = odd.order === 'folder first' ? [inner, link] : [link, inner];
      const whole = tree(workspace, [['100644', 'a.txt', file], ...both]);
      gitIn(
        workspace,
        'update-ref',
        'refs/heads/main',
        gitIn(workspace, 'commit-tree', '-p', 'HEAD', '-m', 'odd', whole),
      );
      if (odd.isChanged) write(workspace, { 'x/y': 'other' });
      const [work] = savedBy(await salvage.save(requestFor(workspace)));
      if (work === undefined) throw new Error('Nothing was saved.');
      await salvage.restore(work, path.join(folder, 'back')).catch(() => null);
      expect(contentsOf(home)).toEqual(before);
    },
  );

  it('detaches HEAD if it named a reference that git does not accept', async () => {
    const { salvage, workspace, folder } = salvageScene();
    makeRepository(workspace);
    const head = gitIn(workspace, 'rev-parse', 'HEAD');
    write(workspace, { 'n.txt': 'new', '.git/HEAD': 'ref: refs/heads/a..b\n', '.git/refs/heads/a..b': `${head}\n` });
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    if (work === undefined) throw new Error('Nothing was saved.');
    const back = path.join(folder, 'back');
    expect(await salvage.restore(work, back)).toMatchObject({ branch: null, head });
    expect(gitIn(back, 'rev-parse', 'HEAD', 'main')).toBe(`${head}\n${head}`);
    expect(contentsOf(back).get('n.txt')).toBe('file new');
  });

  it.runIf(otherDisk !== undefined)('works on another disk than that of the saved work', async () => {
    const other = mkdtempSync(`${otherDisk}/baton-elsewhere-`);
    onTestFinished(() => rmSync(other, { recursive: true, force: true }));
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace);
    write(workspace, { 'n.txt': 'new' });
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    if (work === undefined) throw new Error('Nothing was saved.');
    await salvage.restore(work, path.join(other, 'back'));
    expect(contentsOf(path.join(other, 'back')).get('n.txt')).toBe('file new');
    gitIn(path.join(other, 'back'), 'fsck', '--strict');
  });
});
