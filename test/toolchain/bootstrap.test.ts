// @module-tag full
import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyParts, copyProject, makeFolder, projectRoot, removeFolder, writeFiles } from './project-copy.ts';
import { findOldNode, findOnPath, pathStartingWith, plainEnv, runProgram } from './run-program.ts';

// One cache of our own, so that the first start really gets Node; npm's cache is the user's, to be quick.
const folder = makeFolder();
const cache = path.join(folder, 'cache');
const oldNode = findOldNode();
const env = plainEnv({ BATON_CACHE_DIR: cache, PATH: pathStartingWith(oldNode ?? process.execPath) });
const { version } = JSON.parse(fs.readFileSync(path.join(projectRoot, 'package.json'), 'utf8'));
const firstStartLimitMs = 240_000;
afterAll(() => removeFolder(folder));

// @conforms toolchain.1
describe('bin/baton in a fresh clone', () => {
  const clone = path.join(folder, 'a clone');
  const baton = (args: readonly string[], cwd = clone) => runProgram(path.join(clone, 'bin/baton'), args, { cwd, env });
  beforeAll(() => copyProject(clone));

  it(
    'sets up once for two simultaneous first starts; both print only the version on stdout',
    async () => {
      const ends = await Promise.all([baton(['--version']), baton(['--version'])]);
      expect(ends).toMatchObject(Array(2).fill({ code: 0, stdout: `${version}\n` }));
      const notices = ends.map(({ stderr }) => stderr).join('');
      expect(notices.match(/^baton: installing dependencies$/gm)).toHaveLength(1);
      if (oldNode !== null) expect(notices.match(/^baton: getting Node 24 /gm)).toHaveLength(1);
    },
    firstStartLimitMs,
  );

  // @conforms toolchain.2
  it('prints nothing extra the second time, from another folder and through links', async () => {
    const elsewhere = makeFolder();
    const [absolute, relative] = [path.join(elsewhere, 'baton'), path.join(elsewhere, 'link')];
    fs.symlinkSync(path.join(clone, 'bin/baton'), absolute);
    fs.symlinkSync('./baton', relative);
    const silent = { code: 0, stdout: `${version}\n`, stderr: '' };
    expect(await baton(['--version'])).toMatchObject(silent);
    expect(await baton(['--version'], elsewhere)).toMatchObject(silent);
    expect(await runProgram(absolute, ['--version'], { cwd: '/', env })).toMatchObject(silent);
    expect(await runProgram(relative, ['--version'], { cwd: elsewhere, env })).toMatchObject(silent);
    removeFolder(elsewhere);
  });

  it('passes on the exit code', async () => {
    expect(await baton(['--no-such-flag'])).toMatchObject({ code: 2, stdout: '' });
  });

  it('leaves only Node in the cache', (context) => {
    if (oldNode === null) return context.skip('no Node older than 24 on PATH, so none was got');
    expect(fs.readdirSync(cache)).toEqual([expect.stringMatching(/^node-[0-9a-f]{16}$/)]);
  });
});

describe('the bootstrap', () => {
  // The same bootstrap around a program that prints its environment, with one empty package to install, so that setup is fast.
  const project = path.join(folder, 'probe');
  const start = (changes: NodeJS.ProcessEnv = {}, onStart: (child: ChildProcess) => void = () => {}) =>
    runProgram(path.join(project, 'bin/baton'), [], { cwd: folder, env: { ...env, ...changes }, onStart });
  beforeAll(async () => {
    copyParts(project, ['bin', 'scripts']);
    writeFiles(project, { 'src/cli/main.ts': probe });
    changeLockfile('1.0.0');
    // When this describe runs alone, this is the start that gets Node.
    await start();
  }, firstStartLimitMs);

  // @conforms toolchain.3
  it('installs again only when the lockfile has changed', async () => {
    expect(await start()).toMatchObject({ code: 0, stderr: '' });
    changeLockfile('1.0.1');
    expect(await start()).toMatchObject({ code: 0, stderr: 'baton: installing dependencies\n' });
    expect(await start()).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([
    ['of a process that is dead', '4194305'],
    ['that was never filled', ''],
  ])('takes over a lock %s', async (_name, owner) => {
    const lock = path.join(cache, 'bootstrap.lock');
    fs.writeFileSync(lock, owner);
    fs.utimesSync(lock, 0, 0);
    forgetPackages();
    const ends = await Promise.all([start(), start(), start()]);
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(ends.map(({ stderr }) => stderr).join('')).toBe('baton: installing dependencies\n');
    expect(fs.readdirSync(cache).filter((name) => name.startsWith('bootstrap'))).toEqual([]);
  });

  // @conforms toolchain.5
  it('runs on Node 24 or newer and puts it first on the PATH of children', async () => {
    const { stdout } = await start();
    const seen = JSON.parse(stdout);
    expect(Number(seen.version.split('.')[0])).toBeGreaterThanOrEqual(24);
    expect(seen.childVersion).toBe(`v${seen.version}`);
  });

  // @conforms toolchain.4
  it('replaces itself with Node, so no process is between the caller and Baton', async () => {
    let pid: number | undefined;
    const ended = start({ STAY: '1' }, (child) => {
      pid = child.pid;
      // The probe has printed, so it stays and listens.
      child.stdout?.once('data', () => child.kill('SIGTERM'));
    });
    const { code, signal, stdout } = await ended;
    expect(JSON.parse(stdout).pid).toBe(pid);
    expect({ code, signal }).toEqual({ code: 42, signal: null });
  });

  it('reports a missing npm', async () => {
    forgetPackages();
    const PATH = toolsFolder('without-npm', { node: path.resolve(env.PATH?.split(path.delimiter)[0] ?? '', 'node') });
    const ended = await start({ PATH });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('npm was not found on PATH. Install Node with npm and try again.');
  });

  it('reports a missing Node', async () => {
    const ended = await start({ PATH: toolsFolder('without-node', {}) });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toBe(
      'baton: Node.js was not found on PATH. Install Node 20 or newer (24 is best) and try again.\n',
    );
  });

  it('shows the output of npm when it fails', async () => {
    const good = fs.readFileSync(path.join(project, 'package-lock.json'));
    fs.writeFileSync(path.join(project, 'package-lock.json'), '{ broken');
    const ended = await start();
    fs.writeFileSync(path.join(project, 'package-lock.json'), good);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(/npm error[\s\S]*baton: npm ci failed in .*run the same command again\.\n$/);
    expect(await start()).toMatchObject({ code: 0 });
  });

  function changeLockfile(to: string): void {
    const manifest = { name: 'probe', version: to, type: 'module', dependencies: { part: 'file:part' } };
    const packages = {
      '': manifest,
      part: { version: '1.0.0' },
      'node_modules/part': { resolved: 'part', link: true },
    };
    writeFiles(project, {
      'part/package.json': JSON.stringify({ name: 'part', version: '1.0.0' }),
      'package.json': JSON.stringify(manifest),
      'package-lock.json': JSON.stringify({ name: 'probe', version: to, lockfileVersion: 3, packages }),
    });
  }

  function forgetPackages(): void {
    removeFolder(path.join(project, 'node_modules'));
  }

  /** A PATH with nothing but what the shell script itself needs, and these. */
  function toolsFolder(name: string, tools: Readonly<Record<string, string>>): string {
    const place = path.join(folder, name);
    fs.mkdirSync(place);
    const basic = ['sh', 'dirname', 'readlink'].map((tool) => [tool, findOnPath(tool)]);
    for (const [tool, file] of [...basic, ...Object.entries(tools)] as [string, string][]) {
      fs.symlinkSync(file, path.join(place, tool));
    }
    return place;
  }
});

const probe = `
import { execFileSync } from 'node:child_process';

const childVersion: string = execFileSync('node', ['--version'], { encoding: 'utf8' }).trim();
if (process.env.STAY) {
  const alive = setInterval(() => {}, 1_000);
  process.on('SIGTERM', () => {
    clearInterval(alive);
    process.exitCode = 42;
  });
}
console.log(JSON.stringify({ pid: process.pid, version: process.versions.node, childVersion }));
`;
