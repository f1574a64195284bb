import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import type { Logger } from '../../core/logger.ts';
import type { Git, GitCall } from '../git/git.ts';
import type { GitDirectory, Tip } from '../git/git-directory.ts';
import { unsaved } from './find-repositories.ts';
import type { ObjectStore } from './repository.ts';
import type { Target } from './target.ts';

/** Where saved work is in a repository. Nothing else of Baton's is there. */
export const salvageReferences = 'refs/baton/salvage/';

/** The commits of a repository, compared with those of the repository that takes its work. */
export interface History {
  /** The tree of HEAD; null before the first commit. */
  readonly headTree: string | null;
  /** How many commits are nowhere else. */
  readonly commits: number;
  /** The newest of them: every other one is behind one of these. */
  readonly heads: readonly string[];
  /** Every name that holds a commit, with that commit. */
  readonly tips: readonly Tip[];
  /** Names of objects that are nowhere: there is nothing to save. */
  readonly lost: readonly string[];
}

export interface HistoryRequest {
  readonly directory: GitDirectory;
  readonly target: Target;
  readonly store: ObjectStore;
  readonly logger: Logger;
  readonly signal: AbortSignal | undefined;
}

const mostListBytes = 256 * 1024 * 1024;

/**
 * Finds the commits that the target has not. Its other salvage does not count: that may be dropped earlier. Rejects when
 * HEAD, or what any name holds, cannot be read.
 */
export async function readHistory(git: Git, request: HistoryRequest): Promise<History> {
  const { directory, logger } = request;
  const { head } = directory;
  const ids = [
    ...new Set([...(head === null ? [] : [head]), ...directory.tips.map(({ id }) => id), ...directory.past]),
  ];
  const commitOf = await peel(git, request, ids);
  const headTree = head === null ? null : (commitOf.get(head)?.tree ?? null);
  if (head !== null && headTree === null) throw unsaved(`the commit ${head} of HEAD cannot be read`);

  const tips: Tip[] = [];
  const lost: string[] = [];
  for (const { name, id } of directory.tips) {
    const commit = commitOf.get(id)?.commit;
    if (commit !== undefined) tips.push({ name, id: commit });
    else {
      if (await isInFile(id, directory.objects)) throw unsaved(`what ${name} holds (${id}) cannot be read`);
      lost.push(name);
    }
  }
  if (lost.length > 0) logger.warn('Names in a workspace hold objects that are nowhere.', { names: lost.slice(0, 20) });

  const known = await knownElsewhere(git, request, tips);
  const starts = [...new Set([...(head === null ? [] : [head]), ...tips.map(({ id }) => id)])];
  const past = directory.past.flatMap((id) => commitOf.get(id)?.commit ?? []);
  const missing = await withPast(git, request, { starts, past, known });
  return { headTree, commits: missing.commits.size, heads: newestOf(missing), tips, lost };
}

export interface Missing {
  /** Each with its parents. */
  readonly commits: ReadonlyMap<string, readonly string[]>;
  /** Where the target's own history begins. */
  readonly boundary: readonly string[];
}

export interface MissingRequest extends Pick<HistoryRequest, 'target' | 'store' | 'signal'> {
  readonly starts: readonly string[];
  /** Commits that count as known besides what the target's references hold. */
  readonly known: readonly string[];
  readonly salvageCounts: boolean;
}

/** The commits behind `starts` that the target's references do not hold. */
export async function missingIn(git: Git, request: MissingRequest): Promise<Missing> {
  const { target, store, starts, known, salvageCounts, signal } = request;
  if (starts.length === 0) return { commits: new Map(), boundary: [] };
  const without = salvageCounts ? [] : [`--exclude=${salvageReferences}*`];
  const text = await git.run({
    ...inTarget(target, store, signal),
    args: ['rev-list', '--parents', '--boundary', '--stdin', '--not', ...without, '--all'],
    stdin: [...starts, ...known.map((id) => `^${id}`), ''].join('\n'),
  });
  const commits = new Map<string, readonly string[]>();
  const boundary: string[] = [];
  for (const line of text.split('\n')) {
    const [id = '', ...parents] = line.split(' ');
    if (id.startsWith('-')) boundary.push(id.slice(1));
    else if (id !== '') commits.set(id, parents);
  }
  return { commits, boundary };
}

/** The commits that caches have, which are never pruned. */
export async function cachedCommits(git: Git, { caches }: Target): Promise<string[]> {
  const found: string[] = [];
  for (const gitDir of caches) {
    const text = await git.run({ gitDir, args: ['for-each-ref', '--format=%(objectname)'] });
    found.push(...text.split('\n').filter((line) => line !== ''));
  }
  return [...new Set(found)];
}

/** A call in the target that also sees what is not there yet. */
export function inTarget(target: Target, store: ObjectStore, signal: AbortSignal | undefined): Omit<GitCall, 'args'> {
  return {
    gitDir: target.gitDir,
    borrowed: [store.objects, ...store.borrowed],
    maxOutputBytes: mostListBytes,
    ...(signal === undefined ? {} : { signal }),
  };
}

/** Where HEAD has been may lead to what was thrown away long ago; then only what has a name is saved. */
async function withPast(
  git: Git,
  request: HistoryRequest,
  { starts, past, known }: Record<'starts' | 'past' | 'known', readonly string[]>,
): Promise<Missing> {
  const all = [...new Set([...starts, ...past])];
  try {
    return await missingIn(git, { ...request, starts: all, known, salvageCounts: false });
  } catch (error) {
    if (!(error instanceof BatonError) || error.code !== 'git_failed' || all.length === starts.length) throw error;
    request.logger.warn('Commits that no name holds any more could not be read; they are not saved.', { error });
    return missingIn(git, { ...request, starts, known, salvageCounts: false });
  }
}

/**
 * In a repository of Baton's own, what a clone fetched counts as known once it was saved: the same history is not saved
 * again for each clone.
 */
async function knownElsewhere(git: Git, request: HistoryRequest, tips: readonly Tip[]): Promise<string[]> {
  const { target } = request;
  if (!target.isOurs) return [];
  const cached = await cachedCommits(git, target);
  const fetched = [...new Set(tips.filter(({ name }) => name.startsWith('refs/remotes/')).map(({ id }) => id))];
  const { commits } = await missingIn(git, { ...request, starts: fetched, known: cached, salvageCounts: true });
  return [...cached, ...fetched.filter((id) => !commits.has(id))];
}

interface Peeled {
  readonly commit: string;
  readonly tree: string;
}

/** What each id leads to. Ids that lead to no commit are left out. */
async function peel(git: Git, request: HistoryRequest, ids: readonly string[]): Promise<Map<string, Peeled>> {
  const peeled = new Map<string, Peeled>();
  if (ids.length === 0) return peeled;
  const { code, stdout } = await git.ask({
    ...inTarget(request.target, request.store, request.signal),
    args: ['cat-file', '--batch-check=%(objectname) %(objecttype)'],
    stdin: ids.map((id) => `${id}^{commit}\n${id}^{tree}\n`).join(''),
  });
  const lines = stdout.split('\n');
  if (code !== 0 || lines.length < ids.length * 2) throw unsaved('the objects of the repository cannot be read');
  for (const [index, id] of ids.entries()) {
    const [commit = '', isCommit] = (lines[index * 2] ?? '').split(' ');
    const [tree = '', isTree] = (lines[index * 2 + 1] ?? '').split(' ');
    if (isCommit === 'commit' && isTree === 'tree') peeled.set(id, { commit, tree });
  }
  return peeled;
}

async function isInFile(id: string, objects: readonly string[]): Promise<boolean> {
  for (const folder of objects) {
    const file = path.join(folder, id.slice(0, 2), id.slice(2));
    if (
      await lstat(file).then(
        () => true,
        () => false,
      )
    )
      return true;
  }
  return false;
}

function newestOf({ commits }: Missing): string[] {
  const behind = new Set([...commits.values()].flat());
  return [...commits.keys()].filter((id) => !behind.has(id));
}
