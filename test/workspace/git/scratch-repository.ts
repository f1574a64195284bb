import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { WorkspaceSettings } from '../../../src/core/settings.ts';
import type { Checkouts } from '../../../src/workspace/git/checkout/checkout.ts';
import { createCheckouts } from '../../../src/workspace/git/checkout/checkouts.ts';
import { createGit, type Git, type GitCall } from '../../../src/workspace/git/git.ts';
import { type GitPlaces, gitPlaces } from '../../../src/workspace/git/git-places.ts';
import { type MemoryLogger, memoryLogger } from '../../fake/memory-logger.ts';

const person = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'A Person',
  GIT_AUTHOR_EMAIL: 'person@example.invalid',
  GIT_COMMITTER_NAME: 'A Person',
  GIT_COMMITTER_EMAIL: 'person@example.invalid',
};

/** Plain git, as a person or an agent would call it. Returns its output without the last line end. */
export function git(folder: string, ...args: string[]): string {
  const options = { cwd: folder, env: person, encoding: 'utf8', stdio: 'pipe' } as const;
  return execFileSync('git', args, options).replace(/\n$/, '');
}

/**
 * As `git`, several commands, each after the success of the one before: a shell is small and starts a program much
 * faster than a process of tests.
 */
export function gits(folder: string, ...commands: readonly (readonly string[])[]): string {
  const options = { cwd: folder, env: person, encoding: 'utf8', stdio: 'pipe' } as const;
  const script = commands.map((args) => ['git', ...args].map(quoted).join(' ')).join(' && ');
  return execFileSync('sh', ['-c', script], options).replace(/\n$/, '');
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** What `commit` runs when the files are there. */
export function committing(message = 'a change'): readonly (readonly string[])[] {
  return [
    ['add', '-A'],
    ['commit', '-q', '-m', message],
    ['rev-parse', 'HEAD'],
  ];
}

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}

/** Writes these files and commits them. Returns the commit. */
export function commit(folder: string, files: Readonly<Record<string, string>>, message?: string): string {
  writeFiles(folder, files);
  return gits(folder, ...committing(message));
}

/** A person's repository with a branch `main` and one commit. */
export function scratchRepository(folder: string, options: readonly string[] = []): string {
  mkdirSync(folder, { recursive: true });
  writeFiles(folder, { 'README.md': 'hello\n', 'src/a.txt': 'one\n' });
  gits(folder, ['init', '-q', '-b', 'main', ...options], ...committing('first'));
  return folder;
}

export interface Entry {
  readonly mode: string;
  readonly name: string;
  readonly id: string;
}

/** A commit with a tree that no git would write. */
export function plantCommit(folder: string, entries: readonly Entry[]): string {
  const parts = entries.map(({ mode, name, id }) =>
    Buffer.concat([Buffer.from(`${mode.replace(/^0/, '')} ${name}\0`), Buffer.from(id, 'hex')]),
  );
  const tree = execFileSync('git', ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], {
    cwd: folder,
    env: person,
    input: Buffer.concat(parts),
    encoding: 'utf8',
  }).trim();
  return git(folder, 'commit-tree', '-p', 'HEAD', '-m', 'odd', tree);
}

/** Makes `main` such a commit. */
export function plantMain(source: string, entries: readonly Entry[]): void {
  git(source, 'update-ref', 'refs/heads/main', plantCommit(source, entries));
}

export interface CheckoutChanges extends Partial<WorkspaceSettings> {
  readonly daemonId?: string;
  readonly git?: (real: Git) => Git;
  readonly fetchBase?: () => Promise<string>;
}

export interface ScratchCheckouts {
  readonly checkouts: Checkouts;
  readonly places: GitPlaces;
  readonly logger: MemoryLogger;
  /** Every call of git so far. */
  readonly calls: GitCall[];
  /** An empty directory below the root. */
  readonly workspace: (name: string) => string;
}

/** The real checkouts with their state in a folder. */
export function scratchCheckouts(folder: string, location: string, changes: CheckoutChanges = {}): ScratchCheckouts {
  const places = gitPlaces(path.join(folder, 'state'));
  const logger = memoryLogger();
  const calls: GitCall[] = [];
  const daemonEnv = { PATH: process.env.PATH, HOME: path.join(folder, 'home') };
  const plain = createGit({
    clock: systemClock,
    containment: 'marker_sweep',
    daemonId: changes.daemonId ?? systemChance.id(),
    daemonEnv,
  });
  const real = counted(plain, calls);
  const settings = {
    repo: { location, shown: location, isLocal: true },
    strategy: 'worktree' as const,
    base: null,
    copy: [],
    copyFrom: location,
    ...changes,
  };
  const checkouts = createCheckouts({
    git: changes.git?.(real) ?? real,
    places,
    settings,
    logger,
    clock: systemClock,
    fetchBase: changes.fetchBase,
  });
  const workspace = (name: string): string => {
    const made = path.join(folder, 'workspaces', name);
    mkdirSync(made, { recursive: true });
    return made;
  };
  return { checkouts, places, logger, calls, workspace };
}

function counted(real: Git, calls: GitCall[]): Git {
  return {
    run: (call) => {
      calls.push(call);
      return real.run(call);
    },
    ask: (call) => {
      calls.push(call);
      return real.ask(call);
    },
  };
}
