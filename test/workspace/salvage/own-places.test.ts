import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BatonError } from '../../../src/core/baton-error.ts';
import { otherDisk, rejection, scratchFolder } from '../scratch-folder.ts';
import { gitIn, makeRepository, requestFor, salvageScene, savedBy, write } from './salvage-scene.ts';

/** A folder on another file system than the usual one. */
function elsewhere(): string {
  const folder = mkdtempSync(`${otherDisk}/baton-elsewhere-`);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// @conforms git.36
describe('a repository on another disk than the state folder', () => {
  it.runIf(otherDisk !== undefined)('receives the work, and no half-made file is left in it', async () => {
    const folder = scratchFolder();
    symlinkSync(elsewhere(), path.join(folder, 'source'));
    const { salvage, workspace, source } = salvageScene({ folder, local: true });
    makeRepository(source);
    makeRepository(workspace);
    write(workspace, { 'b.txt': 'new' });
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    const packs = path.join(source, '.git', 'objects', 'pack');
    expect(readdirSync(packs).filter((name) => !/^pack-[0-9a-f]+\.(?:pack|idx)$/.test(name))).toEqual([]);
    expect(gitIn(source, 'show', `${work?.reference}:b.txt`)).toBe('new');
    gitIn(source, 'fsck', '--strict');
  });

  it.runIf(otherDisk !== undefined)('keeps nothing of a pack that cannot be read there', async () => {
    const folder = scratchFolder();
    symlinkSync(elsewhere(), path.join(folder, 'source'));
    const { salvage, workspace, source } = salvageScene({
      folder,
      local: true,
      around: (git) => ({
        ask: (call) => git.ask(call),
        run: (call) => (call.args[0] === 'index-pack' ? Promise.reject(new Error('full')) : git.run(call)),
      }),
    });
    makeRepository(source);
    makeRepository(workspace);
    write(workspace, { 'b.txt': 'new' });
    expect((await rejection(salvage.save(requestFor(workspace)))).code).toBe('salvage_failed');
    expect(readdirSync(path.join(source, '.git', 'objects', 'pack'))).toEqual([]);
  });
});

describe('a local repository whose .git was moved away', () => {
  it('is not searched for in the folders above, which are another repository', async () => {
    const { salvage, workspace, folder, source, places } = salvageScene({ local: true });
    makeRepository(folder, { '.gitignore': '*\n' });
    makeRepository(source);
    makeRepository(workspace);
    write(workspace, { 'plan.txt': 'new' });
    renameSync(path.join(source, '.git'), path.join(folder, 'moved'));
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    expect(work?.repository).toBe(places.salvage);
    expect(gitIn(folder, 'for-each-ref', 'refs/baton')).toBe('');
  });
});

describe('a git directory that an agent names', () => {
  const stranger = (folder: string): string => {
    const secret = path.join(folder, 'private');
    makeRepository(secret, { 'key.pem': 'PRIVATE KEY' });
    return secret;
  };
  const kept = async (
    spoil: (workspace: string, secret: string) => void,
    files?: Record<string, string>,
  ): Promise<BatonError> => {
    const { salvage, workspace, folder } = salvageScene();
    const secret = stranger(folder);
    makeRepository(workspace, files);
    write(workspace, { 'b.txt': 'new' });
    spoil(workspace, secret);
    const error = await rejection(salvage.save(requestFor(workspace)));
    expect(error.code).toBe('salvage_failed');
    expect(await salvage.list()).toEqual([]);
    return error;
  };

  // @conforms git.35
  it('is not used when a .git file names the repository of another person', async () => {
    const { details } = await kept((workspace, secret) => {
      rmSync(path.join(workspace, '.git'), { recursive: true });
      writeFileSync(path.join(workspace, '.git'), `gitdir: ${secret}/.git\n`);
    });
    expect(details).toMatchObject({ problem: 'kept_elsewhere' });
  });

  it('is not used when it shares or borrows from elsewhere, by name or by a link', async () => {
    await kept((workspace, secret) => write(workspace, { '.git/commondir': `${secret}/.git\n` }));
    await kept((workspace, secret) => write(workspace, { '.git/objects/info/alternates': `${secret}/.git/objects\n` }));
    await kept((workspace, secret) => {
      symlinkSync(secret, path.join(workspace, '.git', 'link'));
      write(workspace, { '.git/objects/info/alternates': `${workspace}/.git/link/.git/objects\n` });
    });
    await kept((workspace, secret) => {
      gitIn(secret, 'gc', '-q');
      const packs = path.join(secret, '.git', 'objects', 'pack');
      mkdirSync(path.join(workspace, '.git', 'objects', 'pack'), { recursive: true });
      for (const name of readdirSync(packs)) {
        symlinkSync(path.join(packs, name), path.join(workspace, '.git', 'objects', 'pack', name));
      }
      write(workspace, { '.git/refs/heads/theirs': `${gitIn(secret, 'rev-parse', 'HEAD')}\n` });
    });
  });

  it('is not used when its submodules are a link to other repositories, or borrow from them', async () => {
    await kept((workspace, secret) => symlinkSync(path.dirname(secret), path.join(workspace, '.git', 'modules')));
    await kept((workspace, secret) => {
      makeRepository(`${workspace}-module`);
      mkdirSync(path.join(workspace, '.git', 'modules'));
      renameSync(path.join(`${workspace}-module`, '.git'), path.join(workspace, '.git', 'modules', 'lib'));
      write(workspace, { '.git/modules/lib/objects/info/alternates': `${secret}/.git/objects\n` });
    });
  });

  it('is saved when it is a worktree that a hook made and its repository confirms that', async () => {
    for (const name of ['T-1', '+removing+T-1']) {
      const { salvage, workspace, source } = salvageScene({ local: true });
      makeRepository(source);
      rmSync(workspace, { recursive: true });
      gitIn(source, 'worktree', 'add', '-q', '-b', 'mine', workspace);
      write(workspace, { 'b.txt': 'committed' });
      gitIn(workspace, 'add', '-A');
      gitIn(workspace, 'commit', '-qm', 'mine');
      write(workspace, { 'c.txt': 'new' });
      const folder = path.join(path.dirname(workspace), name);
      renameSync(workspace, folder);
      const [work] = savedBy(await salvage.save(requestFor(workspace, { folder })));
      expect(work).toMatchObject({ repository: path.join(source, '.git'), files: 1, branch: 'mine' });
      expect(gitIn(source, 'show', `${work?.reference}:c.txt`)).toBe('new');
    }
  });

  it('is not used when it is the worktree of another folder', async () => {
    const { salvage, workspace, source, folder } = salvageScene({ local: true });
    makeRepository(source);
    gitIn(source, 'worktree', 'add', '-q', path.join(folder, 'theirs'));
    write(workspace, { '.git': readFileSync(path.join(folder, 'theirs', '.git'), 'utf8'), 'b.txt': 'new' });
    expect((await rejection(salvage.save(requestFor(workspace)))).code).toBe('salvage_failed');
  });
});

describe('repositories inside a workspace', () => {
  it('are saved also when an unused submodule has the name of a git folder', async () => {
    const { salvage, workspace, folder } = salvageScene();
    const library = path.join(folder, 'library');
    makeRepository(library);
    makeRepository(workspace);
    const names = ['hooks', 'logs', 'refs', 'objects', 'deep/hooks'];
    const made: string[] = [];
    for (const name of names) {
      gitIn(workspace, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', library, name);
      gitIn(workspace, 'commit', '-qm', name);
      write(workspace, { [`${name}/a.txt`]: name });
      gitIn(path.join(workspace, name), 'commit', '-qam', name);
      made.push(gitIn(path.join(workspace, name), 'rev-parse', 'HEAD'));
      gitIn(workspace, 'submodule', 'deinit', '-q', '-f', name);
    }
    const works = savedBy(await salvage.save(requestFor(workspace)));
    expect(works.flatMap(({ head }) => head ?? [])).toEqual(expect.arrayContaining(made));
  }, 60_000);

  it('are all kept when there are too many', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace);
    for (let number = 0; number < 200; number += 1) {
      write(workspace, { [`n/${number}/.git/HEAD`]: 'ref: refs/heads/main\n', [`n/${number}/f`]: 'f' });
      for (const name of ['refs', 'objects']) mkdirSync(path.join(workspace, 'n', `${number}`, '.git', name));
    }
    const error = await rejection(salvage.save(requestFor(workspace)));
    expect(error).toMatchObject({ code: 'salvage_failed', details: { problem: 'too_many_repositories' } });
    expect(error.message).toContain('200');
    expect(await salvage.list()).toEqual([]);
  });

  it('with a long list of shallow commits cost a bounded number of git calls', async () => {
    let calls = 0;
    const { salvage, workspace } = salvageScene({
      around: (git) => ({
        run: (call) => {
          calls += 1;
          return git.run(call);
        },
        ask: (call) => {
          calls += 1;
          return git.ask(call);
        },
      }),
    });
    makeRepository(workspace);
    const tree = gitIn(workspace, 'rev-parse', 'HEAD^{tree}');
    const parents = Array.from({ length: 8_000 }, (_, n) => `parent ${n.toString(16).padStart(40, 'a')}\n`).join('');
    const text = `tree ${tree}\n${parents}author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nbig\n`;
    const big = execFileSync('git', ['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], {
      cwd: workspace,
      input: text,
      encoding: 'utf8',
    }).trim();
    const others = Array.from({ length: 2_000 }, (_, n) => n.toString(16).padStart(40, 'b'));
    write(workspace, { '.git/shallow': `${[big, ...others].join('\n')}\n`, 'b.txt': 'new' });
    expect((await salvage.save(requestFor(workspace))).outcome).toBe('saved');
    expect(calls).toBeLessThan(40);
  });
});
