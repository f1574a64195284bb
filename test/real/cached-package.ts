import { execFile } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { BatonError } from '../../src/core/baton-error.ts';
import { type InstanceLock, takeInstanceLock } from '../../src/store/sqlite/instance-lock.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

/** Long enough to download a few hundred megabytes. */
const installLimitMs = 8 * 60_000;
const lockWaitMs = installLimitMs + 60_000;

/** A package of one exact version, outside the project because it is large and Baton does not need it at run time. */
export interface WantedPackage {
  readonly name: string;
  readonly version: string;
  /** Without the packages that it can do without, such as a second copy of a program that the cache already has. */
  readonly isSmall?: boolean;
}

/** Large programs are fetched only where they are wanted. */
export function areRealAgentsWanted(): boolean {
  return Boolean(process.env.CI || process.env.BATON_REAL_AGENTS);
}

/** Its folder, in the cache folder that all clones of one user share (`scripts/bootstrap.mjs`). */
export function packageFolder({ name, version }: WantedPackage): string {
  const plain = name.replaceAll(/[^a-z0-9]+/g, '-').replace(/^-/, '');
  return path.join(cacheFolder(), `${plain}-${version}-${process.platform}-${process.arch}`);
}

/**
 * Fetches it from the registry that npm is configured with, unless `isWhole` finds it. What must hold: several
 * concurrent requests fetch it once; a folder with the final name is complete, because it was created elsewhere and renamed;
 * the next attempt removes the rest of an interrupted one.
 */
export async function installPackage(wanted: WantedPackage, isWhole: (folder: string) => boolean): Promise<void> {
  const folder = packageFolder(wanted);
  if (isWhole(folder)) return;
  const lock = await takeLock(folder);
  try {
    if (isWhole(folder)) return;
    const parent = path.dirname(folder);
    const drafts = `${path.basename(folder)}-draft-`;
    for (const name of readdirSync(parent)) {
      if (name.startsWith(drafts)) rmSync(path.join(parent, name), { recursive: true });
    }
    const draft = mkdtempSync(path.join(parent, drafts));
    await npmInstall(wanted, draft);
    if (!isWhole(draft)) throw new Error(`npm brought no program for ${process.platform}-${process.arch}`);
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
  } finally {
    lock.release();
  }
}

async function npmInstall({ name, version, isSmall = false }: WantedPackage, folder: string): Promise<void> {
  // The last two undo options that an outer npm passes on.
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--no-dry-run', '--no-global'];
  await run(
    'npm',
    ['install', '--prefix', folder, ...flags, ...(isSmall ? ['--omit=optional'] : []), `${name}@${version}`],
    {
      cwd: folder,
      timeout: installLimitMs,
      maxBuffer: 16 * 1024 * 1024,
    },
  );
}

async function takeLock(file: string): Promise<InstanceLock> {
  const deadline = performance.now() + lockWaitMs;
  for (;;) {
    try {
      return takeInstanceLock(file);
    } catch (error) {
      const isHeld = error instanceof BatonError && error.code === 'store_in_use';
      if (!isHeld || performance.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function cacheFolder(): string {
  const { BATON_CACHE_DIR, XDG_CACHE_HOME } = process.env;
  const usual = process.platform === 'darwin' ? ['Library', 'Caches', 'baton'] : ['.cache', 'baton'];
  const wanted =
    BATON_CACHE_DIR || (XDG_CACHE_HOME ? path.join(XDG_CACHE_HOME, 'baton') : path.join(homedir(), ...usual));
  return canBeWritten(wanted) ? wanted : path.join(root, '.cache');
}

function canBeWritten(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
