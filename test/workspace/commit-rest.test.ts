import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { commitRest } from '../../src/workspace/commit-rest.ts';
import { createGit } from '../../src/workspace/git/git.ts';
import { commit, git, scratchCheckouts, scratchRepository } from './git/scratch-repository.ts';
import { scratchFolder } from './scratch-folder.ts';

const branch = 'baton/t-1';

async function scene(strategy: 'worktree' | 'clone' = 'worktree') {
  const folder = scratchFolder();
  const source = scratchRepository(path.join(folder, 'source'));
  commit(source, { '.gitignore': '*.log\n', 'tool.sh': 'true\n' }, 'rules');
  const { checkouts, places, logger, workspace } = scratchCheckouts(folder, source, { strategy });
  const place = workspace('T-1');
  const { gitDir } = await checkouts.make({ workspace: place, branch });
  const daemonEnv = { PATH: process.env.PATH, HOME: path.join(folder, 'home') };
  const own = createGit({ clock: systemClock, containment: 'marker_sweep', daemonId: 'd', daemonEnv });
  const issue = { id: '1', identifier: 'T-1', title: 'Greet' };
  const write = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(place, name)), { recursive: true });
    writeFileSync(path.join(place, name), text);
  };
  const commitNow = (bound: { readonly mostBytes?: number } = {}) =>
    commitRest(
      place,
      { issue, runId: 'run-1', attempt: null },
      { git: own, places, checkouts, clock: systemClock, logger, ...bound },
    );
  const events = () => logger.lines.map(({ event }) => event).filter((event) => event.startsWith('rest_'));
  return { folder, source, place, gitDir, places, checkouts, write, commitNow, events };
}

describe.each(['worktree', 'clone'] as const)('work that an agent left uncommitted in a %s', (strategy) => {
  it('is committed on its branch as it is, without ignored files, and published as any commit', async () => {
    const { source, place, places, checkouts, write, commitNow, events } = await scene(strategy);
    const mine = commit(place, { 'mine.txt': 'committed\n' });
    write('new/a.txt', 'new\r\n');
    write('README.md', 'changed\n');
    write('debug.log', 'ignored\n');
    rmSync(path.join(place, 'src/a.txt'));
    chmodSync(path.join(place, 'tool.sh'), 0o755);
    git(place, 'add', 'README.md');
    const made = await commitNow();
    expect(made).toBe(git(place, 'rev-parse', `refs/heads/${branch}`));
    expect(git(place, 'rev-parse', 'HEAD~1')).toBe(mine);
    expect(git(place, 'status', '--porcelain')).toBe('');
    expect(git(place, 'diff', '--name-status', 'HEAD~1', 'HEAD').split('\n').toSorted()).toEqual([
      'A\tnew/a.txt',
      'D\tsrc/a.txt',
      'M\tREADME.md',
      'M\ttool.sh',
    ]);
    expect(git(place, 'cat-file', 'blob', 'HEAD:new/a.txt')).toBe('new\r');
    const author = git(place, 'show', '-s', '--format=%an <%ae>|%cn', 'HEAD');
    expect(author).toBe('Baton <baton@localhost.invalid>|Baton');
    expect(git(place, 'show', '-s', '--format=%B', 'HEAD')).toMatch(/T-1[\s\S]*review\.auto_commit[\s\S]*run-1/);
    expect(events()).toEqual(['rest_committed']);
    expect(readdirSync(places.scratch)).toEqual([]);
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published', commit: made });
    expect(git(source, 'show', `${branch}:README.md`)).toBe('changed');
    expect(git(place, 'fsck', '--full', '--strict')).not.toMatch(/missing|broken|error/);
    // The agent can go on there.
    commit(place, { 'more.txt': 'x\n' });
    expect(await commitNow()).toBeNull();
  });

  it('is nothing where everything is committed or ignored', async () => {
    const { write, commitNow, events } = await scene(strategy);
    write('debug.log', 'ignored\n');
    expect(await commitNow()).toBeNull();
    expect(events()).toEqual([]);
  });
});

describe('a hostile git directory', () => {
  it('runs no hook, filter, monitor or signing program, and hides no file', async () => {
    const { folder, place, gitDir, write, commitNow } = await scene();
    const trap = path.join(folder, 'trap.sh');
    const ran = path.join(folder, 'ran');
    writeFileSync(trap, `#!/bin/sh\ntouch '${ran}'\ncat\n`, { mode: 0o755 });
    mkdirSync(path.join(gitDir, 'hooks'), { recursive: true });
    for (const hook of ['pre-commit', 'commit-msg', 'reference-transaction', 'post-index-change'])
      writeFileSync(path.join(gitDir, 'hooks', hook), `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
    const config = {
      ...{ 'core.hooksPath': path.join(gitDir, 'hooks'), 'core.fsmonitor': trap, 'core.autocrlf': 'true' },
      ...{ 'filter.x.clean': trap, 'filter.x.process': trap, 'filter.x.required': 'true' },
      ...{ 'commit.gpgSign': 'true', 'gpg.program': trap, 'user.name': 'Somebody Else' },
      ...{ 'core.excludesFile': path.join(folder, 'excludes'), 'core.worktree': folder },
    };
    for (const [key, value] of Object.entries(config)) git(folder, 'config', '--file', `${gitDir}/config`, key, value);
    writeFileSync(path.join(folder, 'excludes'), '*\n');
    writeFileSync(path.join(gitDir, 'info/exclude'), '*\n');
    write('.gitattributes', '* filter=x text\n');
    write('a.txt', 'one\r\n');
    const made = await commitNow();
    expect(existsSync(ran)).toBe(false);
    rmSync(path.join(gitDir, 'config'));
    writeFileSync(path.join(gitDir, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = false\n');
    expect(git(place, 'cat-file', 'blob', `${made}:a.txt`)).toBe('one\r');
    expect(git(place, 'show', '-s', '--format=%an', made ?? '')).toBe('Baton');
  });

  it('does not hide a change with flags of its index', async () => {
    const { place, write, commitNow } = await scene();
    write('README.md', 'changed\n');
    git(place, 'update-index', '--assume-unchanged', 'README.md');
    const made = await commitNow();
    expect(git(place, 'cat-file', 'blob', `${made}:README.md`)).toBe('changed');
  });

  it('is left to a person when it is too large to be published, and its git directory does not grow', async () => {
    const { place, gitDir, write, commitNow, events } = await scene();
    const head = git(place, 'rev-parse', branch);
    writeFileSync(path.join(place, 'a.bin'), randomBytes(64 * 1024));
    write('b.txt', 'work\n');
    const before = readdirSync(path.join(gitDir, 'objects'), { recursive: true });
    expect(await commitNow({ mostBytes: 64 * 1024 })).toBeNull();
    expect(events()).toEqual(['rest_not_committed']);
    expect(git(place, 'rev-parse', branch)).toBe(head);
    expect(readdirSync(path.join(gitDir, 'objects'), { recursive: true })).toEqual(before);
    expect(await commitNow({ mostBytes: 128 * 1024 })).not.toBeNull();
  });

  it.each<[string, (gitDir: string, outside: string, place: string) => void]>([
    ['its objects are a link', (gitDir, outside) => linkAway(path.join(gitDir, 'objects'), outside)],
    ['a folder of its objects is a link', (gitDir, outside) => symlinkSync(outside, path.join(gitDir, 'objects/ab'))],
    ['its references are a link', (gitDir, outside) => linkAway(path.join(gitDir, 'refs'), outside)],
    ['its branches are a link', (gitDir, outside) => linkAway(path.join(gitDir, 'refs/heads'), outside)],
    ['a merge is unfinished', (gitDir) => writeFileSync(path.join(gitDir, 'MERGE_HEAD'), '')],
    ['a rebase is unfinished', (gitDir) => mkdirSync(path.join(gitDir, 'rebase-merge'))],
    ['HEAD is on no branch', (_gitDir, _outside, place) => git(place, 'checkout', '-q', '--detach')],
    ['HEAD is on another branch', (_gitDir, _outside, place) => git(place, 'checkout', '-q', '-b', 'other')],
    ['the branch is locked', (gitDir) => lock(gitDir)],
    ['a file is in conflict', (_gitDir, _outside, place) => conflict(place)],
  ])('is left to a person when %s, and nothing is written elsewhere', async (_, spoil) => {
    const { folder, place, gitDir, write, commitNow, events } = await scene();
    const outside = path.join(folder, 'outside');
    mkdirSync(outside);
    write('a.txt', 'work\n');
    const head = git(place, 'rev-parse', branch);
    spoil(gitDir, outside, place);
    expect(await commitNow()).toBeNull();
    expect(events()).toEqual(['rest_not_committed']);
    expect(git(place, 'rev-parse', branch)).toBe(head);
    expect(readdirSync(outside).filter((name) => !['pack', 'info', 'heads', 'tags', 'remotes'].includes(name))).toEqual(
      [],
    );
  });
});

/** Moves a folder's content outside and puts a link in its place. */
function linkAway(place: string, outside: string): void {
  for (const name of readdirSync(place)) renameSync(path.join(place, name), path.join(outside, name));
  rmSync(place, { recursive: true });
  symlinkSync(outside, place);
}

function lock(gitDir: string): void {
  mkdirSync(path.join(gitDir, 'refs/heads/baton'), { recursive: true });
  writeFileSync(path.join(gitDir, `refs/heads/${branch}.lock`), '');
}

function conflict(place: string): void {
  const blob = git(place, 'rev-parse', 'HEAD:README.md');
  const entries = [1, 2, 3].map((stage) => `100644 ${blob} ${stage}\tREADME.md`);
  git(place, 'rm', '-q', '--cached', 'README.md');
  writeFileSync(path.join(place, 'entries.log'), `${entries.join('\n')}\n`);
  git(place, '-c', 'alias.put=!git update-index --index-info < entries.log', 'put');
}
