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
  const inClone = (file: string) => fs.readFileSync(path.join(clone, file), 'utf8');
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

  // @conforms toolchain.13
  it('installs nothing that only development needs, and builds no page for a command that serves none', () => {
    const locked: Record<string, { dev?: boolean; devOptional?: boolean }> = JSON.parse(
      fs.readFileSync(path.join(clone, 'package-lock.json'), 'utf8'),
    ).packages;
    const installed = Object.keys(JSON.parse(inClone('node_modules/.package-lock.json')).packages);
    expect(installed.length).toBeGreaterThan(0);
    expect(installed.filter((place) => locked[place]?.dev || locked[place]?.devOptional)).toEqual([]);
    expect(fs.existsSync(path.join(clone, 'dist'))).toBe(false);
  });

  it(
    'starts without a page that cannot be built, and builds it at the next start of a daemon',
    async () => {
      const page = path.join(clone, 'dashboard/main.tsx');
      const good = fs.readFileSync(page);
      fs.writeFileSync(page, 'not a program (');
      const without = await baton(['start', '--help']);
      fs.writeFileSync(page, good);
      expect(without).toMatchObject({ code: 0, stderr: expect.stringContaining('the dashboard could not be built') });
      expect(fs.existsSync(path.join(clone, 'dist/dashboard'))).toBe(false);
      expect(await baton(['start', '--help'])).toMatchObject({ code: 0, stderr: 'baton: building the dashboard\n' });
      expect(fs.readdirSync(path.join(clone, 'dist'))).toEqual(['dashboard']);
      expect(inClone('dist/dashboard/index.html')).toContain('<script');
      // The packages that built it are gone again.
      expect(fs.existsSync(path.join(clone, 'dashboard/node_modules'))).toBe(false);
      expect(fs.existsSync(path.join(clone, 'node_modules/vite'))).toBe(false);
      expect(await baton(['start', '--help'])).toMatchObject({ code: 0, stderr: '' });
    },
    firstStartLimitMs,
  );

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

  it('adds the development packages when a check asks for them, and installs nothing again for Baton', async () => {
    const tool = path.join(project, 'node_modules/tool');
    forgetPackages();
    expect(await start()).toMatchObject({ code: 0, stderr: 'baton: installing dependencies\n' });
    expect(fs.existsSync(tool)).toBe(false);
    writeFiles(project, { 'scripts/check.mjs': '' });
    const bootstrap = () => runProgram('node', ['scripts/bootstrap.mjs', 'scripts/check.mjs'], { cwd: project, env });
    const stderr = 'baton: installing dependencies, with those for development\n';
    expect(await bootstrap()).toMatchObject({ code: 0, stderr });
    expect(fs.existsSync(tool)).toBe(true);
    expect(await start()).toMatchObject({ code: 0, stderr: '' });
    expect(await bootstrap()).toMatchObject({ code: 0, stderr: '' });
    expect(fs.existsSync(tool)).toBe(true);
  });

  it('runs no install script for Baton', async () => {
    const mark = path.join(folder, 'script-ran');
    forgetPackages();
    writeFiles(project, { 'part/package.json': partWith({ postinstall: `touch '${mark}'` }) });
    expect(await start()).toMatchObject({ code: 0 });
    expect(fs.existsSync(mark)).toBe(false);
  });

  // @conforms toolchain.14
  it('compares the cached Node again when its file has changed, and gets another if it is not the pinned one', async (context) => {
    if (oldNode === null) return context.skip('no Node older than 24 on PATH, so none was got');
    const node = cachedNode();
    fs.utimesSync(node, 0, 0);
    expect(await start()).toMatchObject({ code: 0, stderr: '' });
    const mark = path.join(folder, 'foreign-node-ran');
    fs.rmSync(node);
    fs.writeFileSync(node, `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 });
    expect(await start()).toMatchObject({ code: 0, stderr: expect.stringMatching(/^baton: getting Node 24 /m) });
    expect(fs.existsSync(mark)).toBe(false);
    expect(await start()).toMatchObject({ code: 0, stderr: '' });
  });

  it('refuses a Node whose checksum is not the pinned one, and keeps nothing of it', async (context) => {
    if (oldNode === null) return context.skip('no Node older than 24 on PATH, so none was got');
    const checksums = path.join(project, 'scripts/node-runtime/checksums.json');
    const good = fs.readFileSync(checksums, 'utf8');
    fs.writeFileSync(checksums, good.replaceAll(/"[0-9a-f]{64}"/g, `"${'0'.repeat(64)}"`));
    const before = fs.readdirSync(cache);
    const ended = await start();
    fs.writeFileSync(checksums, good);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(fs.readdirSync(cache)).toEqual(before);
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
    const [dependencies, devDependencies] = [{ part: 'file:part' }, { tool: 'file:tool' }];
    const manifest = { name: 'probe', version: to, type: 'module', dependencies, devDependencies };
    const packages = {
      '': manifest,
      part: { version: '1.0.0', hasInstallScript: true },
      'node_modules/part': { resolved: 'part', link: true },
      tool: { version: '1.0.0', dev: true },
      'node_modules/tool': { resolved: 'tool', link: true, dev: true },
    };
    writeFiles(project, {
      'part/package.json': partWith({}),
      'tool/package.json': JSON.stringify({ name: 'tool', version: '1.0.0' }),
      'package.json': JSON.stringify(manifest),
      'package-lock.json': JSON.stringify({ name: 'probe', version: to, lockfileVersion: 3, packages }),
    });
  }

  function partWith(scripts: Readonly<Record<string, string>>): string {
    return JSON.stringify({ name: 'part', version: '1.0.0', scripts });
  }

  function cachedNode(): string {
    const places = fs.globSync('node-*/node_modules/*/bin/node', { cwd: cache });
    expect(places).toHaveLength(1);
    return path.join(cache, places[0] ?? '');
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
