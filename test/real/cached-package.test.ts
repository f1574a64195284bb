// @module-tag full
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { installPackage, packageFolder } from './cached-package.ts';

const wanted = { name: '@somebody/agent', version: '1.2.3' };
const isWhole = (folder: string): boolean => existsSync(path.join(folder, 'program'));

describe('a package in the cache folder', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'baton-cached-'));
    vi.stubEnv('BATON_CACHE_DIR', path.join(folder, 'cache'));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A program in place of npm that records its arguments. */
  const npmDoes = (script: string): void => {
    const npm = path.join(folder, 'npm');
    writeFileSync(npm, `#!/bin/sh\necho "$@" >> '${folder}/asked'\n${script}\n`);
    chmodSync(npm, 0o755);
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
  };
  const asked = (): string[] => readFileSync(path.join(folder, 'asked'), 'utf8').trim().split('\n');

  it('is fetched once for several simultaneous requests, by name and version', async () => {
    npmDoes('sleep 0.3; touch program');
    await Promise.all([1, 2, 3].map(() => installPackage(wanted, isWhole)));
    expect(asked()).toHaveLength(1);
    expect(asked()[0]).toMatch(/^install --prefix \S+ .*@somebody\/agent@1\.2\.3$/);
    expect(asked()[0]).not.toMatch(/registry|https?:/);
    expect(isWhole(packageFolder(wanted))).toBe(true);
    await installPackage(wanted, isWhole);
    expect(asked()).toHaveLength(1);
  });

  it('is fetched again after an interrupted attempt, whose leftovers are removed', async () => {
    npmDoes('touch program');
    const place = packageFolder(wanted);
    mkdirSync(`${place}-draft-killed`, { recursive: true });
    mkdirSync(path.join(place, 'half'), { recursive: true });
    await installPackage(wanted, isWhole);
    expect(readdirSync(place)).toEqual(['program']);
    expect(readdirSync(path.dirname(place)).filter((name) => name.includes('draft'))).toEqual([]);
  });

  it.each([
    ['npm fails', 'touch program; exit 1'],
    ['npm installs nothing for this platform', 'exit 0'],
  ])('is absent when %s, and the next attempt starts again', async (_, script) => {
    npmDoes(script);
    await expect(installPackage(wanted, isWhole)).rejects.toThrow();
    expect(existsSync(packageFolder(wanted))).toBe(false);
    npmDoes('touch program');
    await installPackage(wanted, isWhole);
    expect(isWhole(packageFolder(wanted))).toBe(true);
  });
});
