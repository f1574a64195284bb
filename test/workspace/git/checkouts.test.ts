import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isInBase } from '../../../src/workspace/git/checkout/publish-branch.ts';
import { rejection, scratchFolder } from '../scratch-folder.ts';
import { scratchGit } from './examine-scene.ts';
import { commit, git, plantMain, scratchCheckouts, scratchRepository } from './scratch-repository.ts';

const strategies = ['worktree', 'clone'] as const;

describe.each(strategies)('a workspace with the strategy %s', (strategy) => {
  it('has the files of the base, its own branch, and nothing to commit', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const { checkouts, workspace } = scratchCheckouts(folder, source, { strategy });
    const place = workspace('T-1');
    const made = await checkouts.make({ workspace: place, branch: 'baton/t-1' });
    expect(readFileSync(path.join(place, 'src/a.txt'), 'utf8')).toBe('one\n');
    expect(git(place, 'status', '--porcelain', '--branch')).toBe('## baton/t-1');
    expect(git(place, 'rev-parse', 'HEAD')).toBe(git(source, 'rev-parse', 'main'));
    expect(git(place, 'rev-parse', 'origin/main', 'origin/HEAD').split('\n')).toHaveLength(2);
    expect(git(place, 'remote', 'get-url', 'origin')).toBe(source);
    expect(git(place, 'fsck', '--full', '--strict')).toBe('');
    expect(made).toMatchObject({ strategy, branch: 'baton/t-1', base: 'main', found: null, published: null });
    expect(await checkouts.find(place)).toEqual(made);
    expect(await checkouts.find(workspace('T-2'))).toBeNull();
  });

  it('fetches the base of a remote host where the branch of the person is behind', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const behind = git(source, 'rev-parse', 'main');
    const keep = (name: string): string => {
      const newer = git(source, 'commit-tree', '-p', behind, '-m', name, `${behind}^{tree}`);
      git(source, 'update-ref', 'refs/baton/base/main', newer);
      return newer;
    };
    const first = keep('first');
    const { checkouts, workspace } = scratchCheckouts(folder, source, { strategy, fetchBase: async () => 'main' });
    const place = workspace('T-1');
    const checkout = await checkouts.make({ workspace: place, branch: 'baton/t-1' });
    expect(git(place, 'rev-parse', 'origin/main')).toBe(first);
    const second = keep('second');
    git(source, 'branch', 'other');
    git(place, 'fetch', '-q', 'origin');
    expect(git(place, 'rev-parse', 'origin/main', 'origin/HEAD', 'origin/other').split('\n')).toEqual([
      second,
      second,
      behind,
    ]);
    const isBase = isInBase(scratchGit());
    expect([await isBase(checkout, second), await isBase(checkout, behind)]).toEqual([true, true]);
    expect(await isBase(checkout, git(place, 'commit-tree', '-m', 'mine', 'HEAD^{tree}'))).toBe(false);
  });

  // @conforms F074
  it('starts at the current base, not at that of an earlier workspace', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const { checkouts, workspace, calls } = scratchCheckouts(folder, source, { strategy });
    await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/t-1' });
    const newer = commit(source, { 'b.txt': 'two\n' });
    await checkouts.make({ workspace: workspace('T-2'), branch: 'baton/t-2' });
    expect(git(workspace('T-2'), 'rev-parse', 'HEAD')).toBe(newer);
    calls.length = 0;
    await checkouts.make({ workspace: workspace('T-3'), branch: 'baton/t-3' });
    const called = calls.map(({ args }) => args[0]);
    expect(called).toEqual(strategy === 'worktree' ? ['ls-remote', 'read-tree'] : ['ls-remote', 'fetch', 'read-tree']);
  });

  // @conforms F067
  it('continues a branch of the source whose work is not in the base (F067)', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    git(source, 'checkout', '-q', '-b', 'baton/t-1');
    const work = commit(source, { 'work.txt': 'half\n' });
    git(source, 'checkout', '-q', 'main');
    commit(source, { 'main.txt': 'moved on\n' });
    const { checkouts, workspace, logger } = scratchCheckouts(folder, source, { strategy });
    const made = await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/t-1' });
    expect(git(workspace('T-1'), 'rev-parse', 'HEAD')).toBe(work);
    expect(logger.lines).toEqual([
      {
        level: 'info',
        event: 'branch_reused',
        fields: { workspace: workspace('T-1'), branch: 'baton/t-1', commit: work, base: 'main', ahead: 1 },
      },
    ]);
    expect(made).toMatchObject({ start: work, found: work, published: work });
    expect(git(workspace('T-1'), 'status', '--porcelain')).toBe('');
  });

  it('starts at the base when the branch of the source is part of it', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    git(source, 'branch', 'baton/t-1');
    const newer = commit(source, { 'b.txt': 'two\n' });
    const { checkouts, workspace, logger } = scratchCheckouts(folder, source, { strategy });
    await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/t-1' });
    expect(git(workspace('T-1'), 'rev-parse', 'HEAD')).toBe(newer);
    expect(logger.lines).toEqual([]);
  });

  // @conforms git.1
  it('is created ten times at once from one repository, each with its own git directory and branch', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const { checkouts, workspace, calls } = scratchCheckouts(folder, source, { strategy });
    const names = Array.from({ length: 10 }, (_, index) => `T-${index}`);
    const made = await Promise.all(
      names.map((name) => checkouts.make({ workspace: workspace(name), branch: `baton/${name}` })),
    );
    expect(new Set(made.map(({ gitDir }) => gitDir)).size).toBe(10);
    for (const name of names) {
      expect(git(workspace(name), 'status', '--porcelain', '--branch')).toBe(`## baton/${name}`);
      expect(git(workspace(name), 'for-each-ref', '--format=%(refname)', 'refs/heads')).toBe(
        `refs/heads/baton/${name}`,
      );
    }
    // They share what they ask the repository; some may come too late for the first question.
    const asked = calls.filter(({ args }) => args[0] === 'ls-remote').length;
    expect([1, 2]).toContain(asked);
    expect(calls.filter(({ network }) => network === true)).toHaveLength(asked + 1);
  });

  // @conforms F065, F076
  it('lets two workspaces have a branch of the same name, and a new one take it after the first is gone (F076)', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const { checkouts, workspace, places } = scratchCheckouts(folder, source, { strategy });
    await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/same' });
    await checkouts.make({ workspace: workspace('T-2'), branch: 'baton/same' });
    rmSync(workspace('T-1'), { recursive: true });
    await checkouts.forget(path.join(folder, 'workspaces', 'T-1'));
    expect(await checkouts.find(path.join(folder, 'workspaces', 'T-1'))).toBeNull();
    await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/same' });
    for (const name of ['T-1', 'T-2']) expect(git(workspace(name), 'branch', '--show-current')).toBe('baton/same');
    expect(existsSync(places.scratch)).toBe(true);
  });

  it('leaves the files, the index and the branches of the source unchanged (F078)', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    writeFileSync(path.join(source, 'README.md'), 'in the middle of something\n');
    writeFileSync(path.join(source, 'new.txt'), 'untracked\n');
    git(source, 'add', 'new.txt');
    const seen = (): string[] => [
      git(source, 'status', '--porcelain=v2', '--branch'),
      git(source, 'for-each-ref'),
      readFileSync(path.join(source, '.git/config'), 'utf8'),
      readFileSync(path.join(source, '.git/index')).toString('hex'),
    ];
    const before = seen();
    const { checkouts, workspace } = scratchCheckouts(folder, source, { strategy });
    await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/t-1' });
    expect(seen()).toEqual(before);
  });

  it('is filled from a repository with sha256 objects', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'), ['--object-format=sha256']);
    const { checkouts, workspace } = scratchCheckouts(folder, source, { strategy });
    const made = await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/t-1' });
    expect(made.objectFormat).toBe('sha256');
    expect(git(workspace('T-1'), 'status', '--porcelain')).toBe('');
  });

  it('applies the line ends of the tree, and runs no filter', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const touched = path.join(folder, 'filter-ran');
    git(source, 'config', 'filter.evil.smudge', `touch ${touched}; cat`);
    commit(source, { '.gitattributes': '*.bat eol=crlf\n*.bin filter=evil\n', 'x.bat': 'one\n', 'x.bin': 'raw\n' });
    const { checkouts, workspace } = scratchCheckouts(folder, source, { strategy });
    await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/t-1' });
    expect(readFileSync(path.join(workspace('T-1'), 'x.bat'), 'utf8')).toBe('one\r\n');
    expect(readFileSync(path.join(workspace('T-1'), 'x.bin'), 'utf8')).toBe('raw\n');
    expect(git(workspace('T-1'), 'status', '--porcelain')).toBe('');
    expect(existsSync(touched)).toBe(false);
  });

  it('runs no hook of the source or of a template', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const touched = path.join(folder, 'hook-ran');
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change']) {
      writeFileSync(path.join(source, '.git/hooks', hook), `#!/bin/sh\ntouch ${touched}\n`, { mode: 0o755 });
    }
    const { checkouts, workspace } = scratchCheckouts(folder, source, { strategy });
    const { gitDir } = await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/t-1' });
    expect(existsSync(touched)).toBe(false);
    expect(existsSync(path.join(gitDir, 'hooks', 'post-checkout'))).toBe(false);
  });

  it('has submodules as empty folders and links as links', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const head = git(source, 'rev-parse', 'HEAD');
    git(source, 'update-index', '--add', '--cacheinfo', `160000,${head},sub`);
    symlinkSync('/etc', path.join(source, 'out'));
    git(source, 'add', 'out');
    git(source, 'commit', '-q', '-m', 'odd things');
    const { checkouts, workspace } = scratchCheckouts(folder, source, { strategy });
    const place = workspace('T-1');
    await checkouts.make({ workspace: place, branch: 'baton/t-1' });
    expect(statSync(path.join(place, 'sub')).isDirectory()).toBe(true);
    expect(git(place, 'status', '--porcelain')).toBe('');
  });

  it.each([
    ['.git', '100644', 'blob'],
    ['.GIT', '100644', 'blob'],
    ['git~1', '100644', 'blob'],
    ['..', '040000', 'tree'],
  ])('is refused when the tree has an entry %s, and nothing is written outside of it', async (name, mode, type) => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const id = type === 'blob' ? git(source, 'rev-parse', 'HEAD:README.md') : git(source, 'rev-parse', 'HEAD:src');
    plantMain(source, [{ mode, name, id }]);
    const { checkouts, workspace } = scratchCheckouts(folder, source, { strategy });
    expect((await rejection(checkouts.make({ workspace: workspace('T-1'), branch: 'b' }))).code).toBe('git_failed');
    expect(await checkouts.find(workspace('T-1'))).toBeNull();
    expect(existsSync(path.join(folder, 'workspaces', 'a.txt'))).toBe(false);
  });

  it('writes nothing outside for a tree with a link and a folder of the same name', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const outside = path.join(folder, 'outside');
    mkdirSync(outside);
    writeFileSync(path.join(folder, 'target'), outside);
    const link = git(source, 'hash-object', '-w', path.join(folder, 'target'));
    const tree = git(source, 'rev-parse', 'HEAD:src');
    plantMain(source, [
      { mode: '120000', name: 'x', id: link },
      { mode: '040000', name: 'x', id: tree },
    ]);
    const { checkouts, workspace } = scratchCheckouts(folder, source, { strategy });
    await checkouts.make({ workspace: workspace('T-1'), branch: 'b' }).catch(() => {});
    expect(existsSync(path.join(outside, 'a.txt'))).toBe(false);
  });

  it('is unlocked after a killed run, and nothing else is touched', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const { checkouts, workspace } = scratchCheckouts(folder, source, { strategy });
    const place = workspace('T-1');
    const { gitDir } = await checkouts.make({ workspace: place, branch: 'baton/t-1' });
    for (const lock of ['index.lock', 'HEAD.lock', 'refs/heads/x.lock']) writeFileSync(path.join(gitDir, lock), '');
    writeFileSync(path.join(place, 'yarn.lock'), 'kept');
    expect([...(await checkouts.unlock(place))].sort()).toEqual(['HEAD.lock', 'index.lock', 'refs/heads/x.lock']);
    expect(commit(place, { 'b.txt': 'x\n' })).toMatch(/^[0-9a-f]{40}$/);
    expect(existsSync(path.join(place, 'yarn.lock'))).toBe(true);
    expect(await checkouts.unlock(place)).toEqual([]);
  });
});

describe('a missing workspace', () => {
  // @conforms git.2
  it('is filled from its own commits when its git directory still exists, with branches, stash and HEAD', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const { checkouts, workspace, calls } = scratchCheckouts(folder, source);
    const place = workspace('T-1');
    const first = await checkouts.make({ workspace: place, branch: 'baton/t-1' });
    const work = commit(place, { 'work.txt': 'mine\n' });
    writeFileSync(path.join(place, 'work.txt'), 'stashed\n');
    git(place, 'stash');
    git(place, 'branch', 'other', 'HEAD~1');
    writeFileSync(path.join(first.gitDir, 'index.lock'), '');
    rmSync(place, { recursive: true });
    commit(source, { 'moved.txt': 'on\n' });
    calls.length = 0;
    const again = await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/other-name' });
    expect(again).toMatchObject({ branch: 'baton/t-1', baseCommit: first.baseCommit });
    expect(git(place, 'rev-parse', 'HEAD')).toBe(work);
    expect(git(place, 'status', '--porcelain', '--branch')).toMatch(/^## baton\/t-1[^\n]*$/);
    expect(readFileSync(path.join(place, 'work.txt'), 'utf8')).toBe('mine\n');
    git(place, 'stash', 'pop');
    expect(readFileSync(path.join(place, 'work.txt'), 'utf8')).toBe('stashed\n');
    expect(calls.every(({ gitDir }) => gitDir !== first.gitDir)).toBe(true);
  });

  it('is created again from the current base when it had no work', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const { checkouts, workspace } = scratchCheckouts(folder, source);
    await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/t-1' });
    rmSync(workspace('T-1'), { recursive: true });
    const newer = commit(source, { 'moved.txt': 'on\n' });
    await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/t-1' });
    expect(git(workspace('T-1'), 'rev-parse', 'HEAD')).toBe(newer);
  });

  it('moves a git directory aside that it cannot continue, and reports where', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const { checkouts, workspace, logger } = scratchCheckouts(folder, source);
    const place = workspace('T-1');
    const { gitDir } = await checkouts.make({ workspace: place, branch: 'baton/t-1' });
    const work = commit(place, { 'work.txt': 'mine\n' });
    writeFileSync(path.join(gitDir, 'HEAD'), 'garbage');
    rmSync(place, { recursive: true });
    await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/t-1' });
    expect(git(place, 'rev-parse', 'HEAD')).toBe(git(source, 'rev-parse', 'HEAD'));
    const kept = String(logger.lines.find(({ level }) => level === 'warn')?.fields.kept);
    expect(
      git(folder, '--git-dir', path.join(kept, 'git'), 'hash-object', '-t', 'commit', '/dev/null', '--literally'),
    ).not.toBe('');
    expect(existsSync(path.join(kept, 'git/objects', work.slice(0, 2), work.slice(2)))).toBe(true);
  });

  it('ignores everything that the agent put into the git directory it is filled from', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const { checkouts, workspace } = scratchCheckouts(folder, source);
    const place = workspace('T-1');
    const { gitDir } = await checkouts.make({ workspace: place, branch: 'baton/t-1' });
    commit(place, { '.gitattributes': '* filter=evil\n', 'work.txt': 'mine\n' });
    const touched = path.join(folder, 'touched');
    git(place, 'config', 'filter.evil.smudge', `touch ${touched}; cat`);
    git(place, 'config', 'core.fsmonitor', `touch ${touched}`);
    writeFileSync(path.join(gitDir, 'hooks', 'post-checkout'), `#!/bin/sh\ntouch ${touched}\n`, { mode: 0o755 });
    const victim = path.join(folder, 'victim');
    writeFileSync(victim, 'precious');
    rmSync(path.join(gitDir, 'index'));
    symlinkSync(victim, path.join(gitDir, 'index'));
    rmSync(place, { recursive: true });
    await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/t-1' });
    expect(readFileSync(path.join(place, 'work.txt'), 'utf8')).toBe('mine\n');
    expect(existsSync(touched)).toBe(false);
    expect(readFileSync(victim, 'utf8')).toBe('precious');
  });

  it("is not filled with objects of another repository from which the agent's borrows", async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const secret = scratchRepository(path.join(folder, 'secret'));
    const hidden = commit(secret, { 'secret.txt': 'private\n' });
    const { checkouts, workspace } = scratchCheckouts(folder, source);
    const place = workspace('T-1');
    const { gitDir } = await checkouts.make({ workspace: place, branch: 'baton/t-1' });
    writeFileSync(path.join(gitDir, 'objects/info/alternates'), `${path.join(secret, '.git/objects')}\n`);
    writeFileSync(path.join(gitDir, 'HEAD'), `${hidden}\n`);
    rmSync(place, { recursive: true });
    await checkouts.make({ workspace: workspace('T-1'), branch: 'baton/t-1' });
    expect(existsSync(path.join(place, 'secret.txt'))).toBe(false);
    expect(existsSync(path.join(place, 'README.md'))).toBe(true);
  });
});
