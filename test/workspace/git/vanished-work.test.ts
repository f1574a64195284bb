import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../scratch-folder.ts';
import { shell } from './examine-scene.ts';
import { commit, git, plantCommit, scratchCheckouts, scratchRepository } from './scratch-repository.ts';

const branch = 'baton/t-1';

/** A checkout whose directory disappears after the agent did something. */
async function vanished(work: (place: string, gitDir: string) => void) {
  const folder = scratchFolder();
  const source = scratchRepository(path.join(folder, 'source'));
  const scratch = scratchCheckouts(folder, source);
  const place = scratch.workspace('T-1');
  const { gitDir } = await scratch.checkouts.make({ workspace: place, branch });
  work(place, gitDir);
  rmSync(place, { recursive: true });
  scratch.calls.length = 0;
  await scratch.checkouts.make({ workspace: scratch.workspace('T-1'), branch });
  return { ...scratch, folder, source, place, gitDir };
}

describe('a workspace that disappeared', () => {
  // @conforms git.42
  it('has its staged files staged again when it is filled', async () => {
    const { place } = await vanished((at) => {
      writeFileSync(path.join(at, 'feature.ts'), 'a day of work');
      writeFileSync(path.join(at, 'README.md'), 'changed\n');
      git(at, 'add', '-A');
    });
    expect(git(place, 'show', ':feature.ts')).toBe('a day of work');
    expect(git(place, 'status', '--porcelain').split('\n').sort()).toEqual(['AD feature.ts', 'MM README.md']);
    git(place, 'restore', '.');
    expect(readFileSync(path.join(place, 'feature.ts'), 'utf8')).toBe('a day of work');
  });

  it('has both its commits and its staged files', async () => {
    const { place } = await vanished((at) => {
      commit(at, { 'a.txt': 'committed' });
      writeFileSync(path.join(at, 'b.txt'), 'staged');
      git(at, 'add', '-A');
    });
    expect(readFileSync(path.join(place, 'a.txt'), 'utf8')).toBe('committed');
    expect(git(place, 'show', ':b.txt')).toBe('staged');
    expect(git(place, 'status', '--porcelain')).toBe('AD b.txt');
  });

  it('still has a commit that only its log of HEAD names', async () => {
    let lost = '';
    const { place } = await vanished((at) => {
      git(at, 'switch', '-q', '-c', 'try');
      lost = commit(at, { 'x.txt': 'work' });
      git(at, 'switch', '-q', branch);
      git(at, 'branch', '-q', '-D', 'try');
    });
    expect(git(place, 'cat-file', '-t', lost)).toBe('commit');
  });

  it('still has the git directory of a submodule whose folder was removed', async () => {
    const { gitDir } = await vanished((at, own) => {
      const lent = scratchRepository(path.join(scratchFolder(), 'lent'));
      shell(`mkdir '${own}/modules'; git clone -q --separate-git-dir '${own}/modules/lib' '${lent}' lib`, at);
    });
    expect(existsSync(path.join(gitDir, 'modules/lib/HEAD'))).toBe(true);
  });

  it('is filled despite a broken index, which is kept next to the new one', async () => {
    const { place, gitDir } = await vanished((at, own) => {
      commit(at, { 'a.txt': 'committed' });
      writeFileSync(path.join(own, 'index'), 'garbage');
    });
    expect(git(place, 'status', '--porcelain')).toBe('');
    expect(readFileSync(path.join(gitDir, 'index.unreadable'), 'utf8')).toBe('garbage');
  });

  it('is moved aside with a commit of a thousand million files, which git does not expand', async () => {
    const { calls, logger, source, place } = await vanished((at) => {
      let entry = { mode: '100644', id: git(at, 'rev-parse', 'HEAD:README.md') };
      let bomb = '';
      for (let depth = 0; depth < 9; depth += 1) {
        const names = Array.from({ length: 10 }, (_, number) => ({ ...entry, name: `f${number}` }));
        bomb = plantCommit(at, names);
        entry = { mode: '40000', id: git(at, 'rev-parse', `${bomb}^{tree}`) };
      }
      git(at, 'update-ref', `refs/heads/${branch}`, bomb);
    });
    expect(calls.filter(({ args, borrowed = [] }) => args[0] === 'read-tree' && borrowed.length > 0)).toEqual([]);
    expect(logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    expect(git(place, 'rev-parse', 'HEAD')).toBe(git(source, 'rev-parse', 'main'));
  }, 60_000);

  it('is created again when only files were changed, because nothing is left to continue', async () => {
    const { place, source, logger } = await vanished((at) => {
      writeFileSync(path.join(at, 'README.md'), 'changed\n');
      git(at, 'status');
      renameSync(path.join(at, 'src'), path.join(at, 'other'));
    });
    expect(git(place, 'status', '--porcelain')).toBe('');
    expect(git(place, 'rev-parse', 'HEAD')).toBe(git(source, 'rev-parse', 'main'));
    expect(logger.events()).not.toContain('workspace_refilled');
  });
});
