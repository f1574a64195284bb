import { access, readdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../../clock/clock.ts';
import { BatonError } from '../../../core/baton-error.ts';
import type { Logger } from '../../../core/logger.ts';
import type { RepositorySettings } from '../../../core/settings.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import { deleteTree } from '../../delete-tree.ts';
import { lstatOrNull, reasonOf } from '../../file-system.ts';
import type { OneAtATime } from '../../one-at-a-time.ts';
import { writeAlternates, writeBareRepository } from '../bare-repository.ts';
import type { Git } from '../git.ts';
import type { ObjectFormat } from '../shadow/shadow-git.ts';
import { readSource, type SourceHeads } from '../source/read-source.ts';
import { soundsDamaged, sourceUnavailable } from '../source/source-errors.ts';
import { fetchInto, keptCommits, notThere } from './cached-branches.ts';
import { clearLeftovers } from './clear-leftovers.ts';
import { shareRefresh } from './share-refresh.ts';

/**
 * A bare copy of a source in the state folder; Baton fills every workspace of the source from it. What must hold:
 *
 * - No object is ever removed from it, because checkouts borrow them. Git neither prunes nor collects garbage here.
 * - It is complete or absent: it is made under another name and renamed.
 * - One operation at a time; callers that wait share the next fetch.
 * - A damaged cache is moved aside, and the new one borrows the objects that are still readable there: a checkout finds
 *   in it everything it had borrowed, even objects that the source has dropped in the meantime.
 * - The location of the source, which may carry a password, is in no file here.
 */
export interface Cache {
  /** Fetches the current base, and the branch where the source has it. */
  refresh(branch: string, signal?: AbortSignal): Promise<FreshSource>;
  /** Reports that a part of it is unreadable: the next refresh makes the cache again. */
  distrust(damage: string): void;
}

export interface FreshSource {
  readonly cache: string;
  readonly objectFormat: ObjectFormat;
  readonly base: string;
  readonly baseCommit: string;
  /** The reference of the source that has the base. */
  readonly baseReference: string;
  /** Null where the source has no such branch. */
  readonly branchCommit: string | null;
}

export interface CacheParts {
  readonly git: Git;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly oneAtATime: OneAtATime;
  readonly folder: string;
  readonly repo: RepositorySettings;
  /** Null: the branch that the source's HEAD names. */
  readonly base: string | null;
  /** Brings the base of a remote host into the source, and returns its name; absent: the source has the base itself. */
  readonly fetchBase?: ((signal: AbortSignal) => Promise<string | null>) | undefined;
}

export function createCache(parts: CacheParts): Cache {
  const { folder, oneAtATime } = parts;
  let damage: string | null = null;
  const refreshed = shareRefresh<string, SourceHeads>({
    inTurn: (work) => oneAtATime(folder, work),
    refresh: async (branches, signal) => {
      const source = await refresh(branches, damage, signal, parts);
      damage = null;
      return source;
    },
  });
  return {
    refresh: async (branch, signal) => {
      const { objectFormat, base, baseReference, commits } = await refreshed(branch, signal);
      const baseCommit = commits.get(base);
      if (baseCommit === undefined)
        throw new BatonError('internal_error', 'The repository cache has no commit for the base branch.');
      const branchCommit = commits.get(branch) ?? null;
      return { cache: folder, objectFormat, base, baseCommit, baseReference, branchCommit };
    },
    distrust: (reason) => {
      damage = reason;
    },
  };
}

async function refresh(
  branches: readonly string[],
  damage: string | null,
  signal: AbortSignal,
  parts: CacheParts,
): Promise<SourceHeads> {
  const { git, repo, folder, fetchBase } = parts;
  const base = fetchBase === undefined ? parts.base : await fetchBase(signal).catch(hostUnavailable);
  const isBaseKept = fetchBase !== undefined;
  const source = await readSource(git, { repo, base, isBaseKept, branches, signal });
  const wrong = damage ?? (await whatIsWrong(folder, source.objectFormat));
  if (wrong !== null) await makeCache(source, wrong, signal, parts);
  else {
    const missing = await notThere(source, folder);
    if (missing.size > 0) await update(source, missing, signal, parts);
  }
  return { ...source, commits: await keptCommits(source, folder) };
}

/** The environment is to blame, not the agent. */
function hostUnavailable(thrown: unknown): never {
  if (!(thrown instanceof BatonError)) throw thrown;
  const { message, nextStep, details } = thrown;
  throw new BatonError('repository_unavailable', message, { cause: thrown, nextStep, details });
}

async function update(
  source: SourceHeads,
  missing: ReadonlyMap<string, string>,
  signal: AbortSignal,
  parts: CacheParts,
): Promise<void> {
  await clearLeftovers(parts.folder);
  const failure = await fetchInto(parts.folder, source, missing, signal, parts);
  if (failure === null) return;
  if (failure.isShallow || !soundsDamaged(failure.said)) throw sourceUnavailable(parts.repo, failure);
  // If the source is the reason, making the cache again fails too and reports it.
  await makeCache(source, failure.said, signal, parts);
}

/** Makes the cache and moves an existing one aside; checkouts borrow from that until the new one is ready. */
async function makeCache(source: SourceHeads, wrong: string, signal: AbortSignal, parts: CacheParts): Promise<void> {
  const { folder, repo } = parts;
  const { objectFormat, commits } = source;
  const making = `${folder}+making`;
  await deleteTree(making);
  await writeBareRepository({ folder: making, objectFormat });
  const failure = await fetchInto(making, source, commits, signal, parts);
  if (failure !== null) {
    await deleteTree(making);
    throw sourceUnavailable(repo, failure);
  }
  if ((await lstatOrNull(folder)) !== null) await putAside(parts, wrong);
  // After the fetch: otherwise git would not fetch objects that exist there already, even damaged ones.
  await writeAlternates(making, await earlierObjects(folder, objectFormat));
  await rename(making, folder);
}

/** Why this is not a cache of such objects; null when it is one. Whether its objects are readable shows in use. */
async function whatIsWrong(folder: string, objectFormat: ObjectFormat): Promise<string | null> {
  try {
    for (const name of ['HEAD', 'refs', 'objects/pack']) await access(path.join(folder, name));
    const config = await readFile(path.join(folder, 'config'), 'utf8');
    if (!config.includes('[core]')) return 'its configuration is missing';
    return hasFormat(config, objectFormat) ? null : 'its objects have another format';
  } catch (error) {
    return reasonOf(error);
  }
}

const asideMark = '+damaged-';

/** Moves a damaged cache out of the way of a new one, and logs it. */
async function putAside({ folder, clock, logger, repo }: CacheParts, damage: string): Promise<void> {
  const aside = `${folder}${asideMark}${clock.now()}`;
  await rename(folder, aside);
  logger.warn('repository_cache_replaced', {
    repository: repo.shown,
    kept: aside,
    reason: harmlessLine(damage),
  });
}

/** The object directories of all caches of this source that were moved aside, if they have such objects. */
async function earlierObjects(folder: string, objectFormat: ObjectFormat): Promise<string[]> {
  const parent = path.dirname(folder);
  const prefix = `${path.basename(folder)}${asideMark}`;
  const found: string[] = [];
  for (const name of (await readdir(parent)).sort().reverse()) {
    const objects = path.join(parent, name, 'objects');
    if (!name.startsWith(prefix) || !(await lstatOrNull(objects).catch(() => null))?.isDirectory()) continue;
    const config = await readFile(path.join(parent, name, 'config'), 'utf8').catch(() => '');
    if (!config.includes('[core]') || hasFormat(config, objectFormat)) found.push(objects);
  }
  return found;
}

function hasFormat(config: string, objectFormat: ObjectFormat): boolean {
  return config.includes('objectFormat = sha256') === (objectFormat === 'sha256');
}
