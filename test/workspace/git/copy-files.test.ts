import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyFiles } from '../../../src/workspace/git/checkout/copy-files.ts';
import { memoryLogger } from '../../fake/memory-logger.ts';
import { runs } from '../../property-runs.ts';
import { rejection, scratchFolder } from '../scratch-folder.ts';
import { commit, git, scratchCheckouts, scratchRepository } from './scratch-repository.ts';

function scene() {
  const folder = scratchFolder();
  const from = path.join(folder, 'from');
  const to = path.join(folder, 'workspaces', 'T-1');
  for (const each of [from, to]) mkdirSync(each, { recursive: true });
  const logger = memoryLogger();
  const never = [path.join(folder, 'workspaces'), path.join(folder, 'state')];
  const copy = (...patterns: string[]) => copyFiles({ patterns, from, to, never, logger });
  return { folder, from, to, logger, never, copy };
}

/** Files with their text, in a folder. */
function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}

function read(folder: string, name: string): string {
  return readFileSync(path.join(folder, name), 'utf8');
}

describe('workspace.copy', () => {
  it('copies files and folders that match its patterns, with their modes', async () => {
    const { from, to, copy } = scene();
    write(from, { '.env': 'A=1', '.env.local': 'B=2', 'deep/.env': 'C=3', 'cfg/x/y.json': '{}', 'cfg/.hidden': 'h' });
    chmodSync(path.join(from, '.env'), 0o600);
    chmodSync(path.join(from, 'cfg/x'), 0o700);
    const copied = await copy('.env*', '**/.env', 'cfg');
    expect([...copied.files].sort()).toEqual(['.env', '.env.local', 'deep/.env']);
    expect(copied.folders).toEqual(['cfg']);
    expect([read(to, '.env'), read(to, 'deep/.env'), read(to, 'cfg/.hidden')]).toEqual(['A=1', 'C=3', 'h']);
    expect(statSync(path.join(to, '.env')).mode & 0o777).toBe(0o600);
    expect(statSync(path.join(to, 'cfg/x')).mode & 0o777).toBe(0o700);
  });

  it('warns about a pattern that matches nothing, and continues', async () => {
    const { from, to, logger, copy } = scene();
    write(from, { '.env': 'A=1' });
    await copy('nothing/*', '.env');
    expect(read(to, '.env')).toBe('A=1');
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { pattern: 'nothing/*' } }]);
  });

  it('never overwrites files of the checkout', async () => {
    const { from, to, copy } = scene();
    write(from, { 'a.txt': 'theirs', 'cfg/a.json': 'theirs', 'cfg/b.json': 'new', clash: 'file', 'clash2/x': 'x' });
    write(to, { 'a.txt': 'mine', 'cfg/a.json': 'mine', 'clash/x': 'folder', clash2: 'file' });
    expect(await copy('a.txt', 'cfg', 'clash', 'clash2')).toEqual({ files: [], folders: ['cfg'] });
    expect([read(to, 'a.txt'), read(to, 'cfg/a.json'), read(to, 'cfg/b.json')]).toEqual(['mine', 'mine', 'new']);
    expect([read(to, 'clash/x'), read(to, 'clash2')]).toEqual(['folder', 'file']);
  });

  it('writes nothing through a link of the checkout', async () => {
    const { folder, from, to, copy } = scene();
    write(from, { 'cfg/a.json': '{}', 'cfg2/a.json': '{}', dangling: 'x' });
    const outside = path.join(folder, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, path.join(to, 'cfg'));
    symlinkSync(outside, path.join(to, 'cfg2'));
    symlinkSync(path.join(outside, 'new'), path.join(to, 'dangling'));
    await copy('cfg/a.json', 'cfg2', 'dangling');
    expect(readdirSync(outside)).toEqual([]);
  });

  it('copies a link as a link when its target is inside', async () => {
    const { from, to, copy } = scene();
    write(from, { 'a/real.txt': 'x' });
    symlinkSync('real.txt', path.join(from, 'a/link'));
    symlinkSync('nowhere', path.join(from, 'a/broken'));
    symlinkSync('../a', path.join(from, 'a/round'));
    await copy('a');
    expect(readlinkSync(path.join(to, 'a/link'))).toBe('real.txt');
    expect(readlinkSync(path.join(to, 'a/broken'))).toBe('nowhere');
    expect(lstatSync(path.join(to, 'a/round')).isSymbolicLink()).toBe(true);
  });

  it.each([
    ['an absolute link', '/etc/passwd'],
    ['a link upwards', '../../secret'],
    ['a link that leads out by another link', 'hop/secret'],
  ])('refuses %s', async (_what, target) => {
    const { folder, from, to, copy } = scene();
    write(folder, { secret: 'private', 'elsewhere/secret': 'private' });
    mkdirSync(path.join(from, 'a'));
    symlinkSync(target, path.join(from, 'a/link'));
    symlinkSync(path.join(folder, 'elsewhere'), path.join(from, 'a/hop'));
    expect((await rejection(copy('a/link'))).code).toBe('workspace_copy_failed');
    expect(existsSync(path.join(to, 'a/link'))).toBe(false);
  });

  it('copies nothing behind a link', async () => {
    const { folder, from, to, logger, copy } = scene();
    write(folder, { 'elsewhere/.env': 'private' });
    symlinkSync(path.join(folder, 'elsewhere'), path.join(from, 'out'));
    await copy('out/.env', '**/.env');
    expect(readdirSync(to)).toEqual([]);
    expect(logger.events()).toContain('copy_behind_link');
  });

  it.each(['../secret', '../../*', 'a/../../secret', '/etc/hostname'])('refuses the pattern %s', async (pattern) => {
    const { folder, from, to, copy } = scene();
    write(folder, { secret: 'private', 'from/a/x': 'x' });
    expect(from).toContain(folder);
    await copy(pattern).catch((error: unknown) => expect(error).toMatchObject({ code: 'workspace_copy_failed' }));
    expect(readdirSync(to)).toEqual([]);
  });

  it('never copies a git directory, other workspaces, or itself', async () => {
    const folder = scratchFolder();
    const from = folder;
    const to = path.join(folder, 'workspaces/T-1');
    write(folder, { '.git/config': 'x', 'sub/.git': 'gitdir: y', 'sub/a': 'a', 'workspaces/T-2/.env': 'other' });
    write(folder, { 'state/git/x.env': 'state', '.env': 'mine' });
    mkdirSync(to);
    const never = [path.join(folder, 'workspaces'), path.join(folder, 'state')];
    const logger = memoryLogger();
    await copyFiles({ patterns: ['**/.env', '*', 'sub', '.git/config', '.'], from, to, never, logger });
    expect(readdirSync(to, { recursive: true }).sort()).toEqual(['.env', 'sub', 'sub/a']);
    expect(read(to, '.env')).toBe('mine');
  });

  it('copies names that are not valid UTF-8', async () => {
    const { from, to, copy } = scene();
    mkdirSync(path.join(from, 'odd'));
    writeFileSync(Buffer.concat([Buffer.from(`${from}/odd/`), Buffer.from([0xff, 0x0a, 0x80])]), 'x');
    await copy('odd');
    expect(readdirSync(path.join(to, 'odd'), { encoding: 'latin1' })).toEqual(['\xff\n\x80']);
  });

  it('skips everything that is not a file, folder or link', async () => {
    const { from, to, logger, copy } = scene();
    write(from, { 'a/x': 'x' });
    execFileSync('sh', ['-c', 'mkfifo a/pipe'], { cwd: from });
    await copy('a');
    expect(readdirSync(path.join(to, 'a'))).toEqual(['x']);
    expect(logger.lines).toHaveLength(1);
  });

  it('fails with its own code when a file cannot be read', async () => {
    const { from, never, logger, to } = scene();
    const missing = path.join(from, 'not-there');
    const failed = copyFiles({ patterns: ['*'], from: missing, to, never, logger });
    expect((await rejection(failed)).code).toBe('workspace_copy_failed');
  });
});

describe('files that workspace.copy copied', () => {
  it.each(['worktree', 'clone'] as const)(
    'are not a change for the agent of a %s, but work next to them is',
    async (strategy) => {
      const folder = scratchFolder();
      const source = scratchRepository(path.join(folder, 'source'));
      commit(source, { '.gitignore': 'modules/\n' });
      write(source, { '.env': 'A=1', 'odd #[x]! ': '1', 'cfg/a.json': '{}', 'modules/m.js': 'm' });
      const copy = ['.env', 'odd*', 'cfg', 'modules'];
      const { checkouts, workspace } = scratchCheckouts(folder, source, { strategy, copy });
      const place = workspace('T-1');
      const made = await checkouts.make({ workspace: place, branch: 'b' });
      expect(git(place, 'status', '--porcelain')).toBe('');
      expect(made.excludes.filter((line) => !line.startsWith('!')).sort()).toEqual([
        '/.env',
        '/cfg/a.json',
        '/odd \\#\\[x\\]\\!\\ ',
      ]);
      expect(readFileSync(path.join(made.shadow, 'info/exclude'), 'utf8').trimEnd().split('\n')).toHaveLength(6);
      write(place, { 'cfg/b.json': '{}', 'sub/.env': 'x' });
      expect(git(place, 'status', '--porcelain', '-uall')).toBe('?? cfg/b.json\n?? sub/.env');
    },
  );

  it('are exactly those that the pattern names, whatever characters the name has', async () => {
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[ -.0-~]{1,12}$/), async (name) => {
        if (name === '.' || name === '..' || name.toLowerCase() === '.git') return;
        const folder = scratchFolder();
        const source = scratchRepository(path.join(folder, 'source'));
        write(source, { [`d/${name}`]: '1' });
        const { checkouts, workspace } = scratchCheckouts(folder, source, { copy: ['d'] });
        const place = workspace('T-1');
        await checkouts.make({ workspace: place, branch: 'b' });
        expect(git(place, 'status', '--porcelain')).toBe('');
        write(place, { [`d/${name}x`]: '1' });
        expect(git(place, 'status', '--porcelain')).not.toBe('');
      }),
      { numRuns: runs(15) },
    );
  });
});
