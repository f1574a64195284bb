import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { Checkout } from '../../../src/workspace/git/checkout/checkout.ts';
import { createGit, type Git } from '../../../src/workspace/git/git.ts';
import { gitPlaces } from '../../../src/workspace/git/git-places.ts';
import { createSalvage } from '../../../src/workspace/salvage/create-salvage.ts';
import type { Salvage, SalvageRequest, SavedWork, SaveResult } from '../../../src/workspace/salvage/salvage.ts';
import { memoryLogger } from '../../fake/memory-logger.ts';
import { scratchFolder } from '../scratch-folder.ts';

const processDeps = { clock: systemClock, containment: 'group_only', daemonId: 'salvage-test' } as const;

export interface SceneChanges {
  /** A local repository that receives the work. */
  readonly local?: boolean;
  readonly archive?: boolean;
  readonly mostLocalBytes?: number;
  readonly checkout?: Checkout | null;
  /** Wraps the real git. */
  readonly around?: (git: Git) => Git;
  readonly folder?: string;
  readonly project?: string;
  /** In the folder; another name is another Baton. */
  readonly state?: string;
}

/** Plain git as a person would use it, without the configuration of the machine. */
export function gitIn(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd,
    encoding: 'latin1',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Agent',
      GIT_AUTHOR_EMAIL: 'agent@example.invalid',
      GIT_COMMITTER_NAME: 'Agent',
      GIT_COMMITTER_EMAIL: 'agent@example.invalid',
      LC_ALL: 'C',
    },
  }).trim();
}

/** Real git and real folders: a workspace to save, and the target of its work. */
export function salvageScene(changes: SceneChanges = {}) {
  const folder = changes.folder ?? scratchFolder();
  const workspace = path.join(folder, 'workspaces', 'T-1');
  const source = path.join(folder, 'source');
  const places = gitPlaces(path.join(folder, changes.state ?? 'state'));
  mkdirSync(workspace, { recursive: true });
  const logger = memoryLogger();
  const daemonEnv = { PATH: process.env.PATH };
  const real = createGit({ ...processDeps, daemonEnv });
  const git = changes.around?.(real) ?? real;
  const salvage = createSalvage({
    ...processDeps,
    git,
    project: changes.project ?? 'test',
    places,
    repo: changes.local === true ? { location: source, shown: source, isLocal: true } : null,
    archive: changes.archive ?? false,
    mostLocalBytes: changes.mostLocalBytes,
    findCheckout: async () => changes.checkout ?? null,
    logger,
    daemonEnv,
  });
  return { folder, workspace, source, places, logger, git, salvage };
}

/** A repository with one commit of these files. */
export function makeRepository(
  folder: string,
  files: Record<string, string> = { 'a.txt': 'one\n' },
  ...init: string[]
): void {
  mkdirSync(folder, { recursive: true });
  gitIn(folder, 'init', '-q', '-b', 'main', ...init);
  write(folder, files);
  gitIn(folder, 'add', '-A');
  gitIn(folder, 'commit', '-q', '--allow-empty', '-m', 'first');
}

export function write(folder: string, files: Record<string, string | Uint8Array>): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

export function requestFor(workspace: string, changes: Partial<SalvageRequest> = {}): SalvageRequest {
  return {
    folder: workspace,
    workspace,
    issue: { id: 'id-1', identifier: 'T-1', title: 'A title' },
    runId: 'run-1',
    ...changes,
  };
}

/** The entries of a save that saved something. */
export function savedBy(result: SaveResult): readonly SavedWork[] {
  if (result.outcome !== 'saved') throw new Error(`The outcome is ${result.outcome}.`);
  return result.works;
}

/** Saves, removes the workspace, restores the first entry into a new folder, and returns that folder. */
export async function throughSalvage(salvage: Salvage, workspace: string): Promise<string> {
  const [work] = savedBy(await salvage.save(requestFor(workspace)));
  rmSync(workspace, { recursive: true });
  const restored = `${workspace}-restored`;
  await salvage.restore(await salvage.find(work?.name ?? ''), restored);
  return restored;
}

/** Every file outside of `.git` with type, executable bit and bytes. */
export function contentsOf(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  const look = (at: Buffer, name: string): void => {
    for (const entry of readdirSync(at, { encoding: 'buffer' })) {
      const key = `${name}${entry.toString('latin1')}`;
      const file = Buffer.concat([at, Buffer.from('/'), entry]);
      const stat = lstatSync(file);
      if (entry.toString() === '.git') continue;
      if (stat.isSymbolicLink()) found.set(key, `link ${readlinkSync(file, { encoding: 'latin1' })}`);
      else if (stat.isDirectory()) look(file, `${key}/`);
      else found.set(key, `${(stat.mode & 0o100) === 0 ? 'file' : 'program'} ${readFileSync(file, 'latin1')}`);
    }
  };
  look(Buffer.from(folder), '');
  return found;
}
