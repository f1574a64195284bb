import { BatonError } from '../../core/baton-error.ts';
import type { Logger } from '../../core/logger.ts';
import type { Git, GitCall } from '../git/git.ts';
import type { GitDirectory, Tip } from '../git/git-directory.ts';
import { type Besides, readBesides } from './besides.ts';
import { brokenObjects } from './broken-objects.ts';
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
  /** Every name that holds something, with what it holds: a commit, a tag, and now and then a file or a tree. */
  readonly tips: readonly Tip[];
  /** What names hold besides commits and the target's names do not. */
  readonly besides: Besides;
  /** Names of objects that are nowhere: there is nothing to save. */
  readonly lost: readonly string[];
}

export interface HistoryRequest {
  readonly directory: GitDirectory;
  readonly target: Target;
  readonly store: ObjectStore;
  /** Tags that are kept already. */
  readonly tags: ReadonlySet<string>;
  readonly logger: Logger;
  readonly signal: AbortSignal | undefined;
}

const mostListBytes = 256 * 1024 * 1024;

/**
 * Finds the commits that the target has not. Its other salvage does not count: that may be dropped earlier. Rejects when
 * HEAD, or what any name holds, cannot be read. Only what is in no file of a repository that is whole counts as lost.
 */
export async function readHistory(git: Git, request: HistoryRequest): Promise<History> {
  const { directory, logger } = request;
  const { head } = directory;
  const ids = [
    ...new Set([...(head === null ? [] : [head]), ...directory.tips.map(({ id }) => id), ...directory.past]),
  ];
  const held = await peel(git, request, ids);
  const headTree = head === null ? null : (held.get(head)?.tree ?? null);
  if (head !== null && headTree === null)
    throw unsaved('objects_unreadable', `the commit ${head} of HEAD cannot be read`);
  await refuseUnreadable(
    directory,
    ids.filter((id) => !held.has(id)),
  );

  const tips = directory.tips.filter(({ id }) => held.has(id));
  const lost = directory.tips.filter(({ id }) => !held.has(id)).map(({ name }) => name);
  if (lost.length > 0) logger.warn('refs_point_nowhere', { names: lost.slice(0, 20) });
  const commits: Tip[] = [];
  for (const { name, id } of tips) {
    const { type, commit } = held.get(id) ?? {};
    if (commit !== undefined) commits.push({ name, id: commit });
    else if (type === 'commit') throw unsaved('objects_unreadable', `what ${name} holds (${id}) cannot be read`);
  }
  const odd = [...new Set(tips.map(({ id }) => id))].filter((id) => held.get(id)?.type !== 'commit');
  const besides = await readBesides(git, request, new Map(odd.map((id) => [id, held.get(id)?.type ?? ''])));

  const known = await knownElsewhere(git, request, commits);
  const starts = [...new Set([...(head === null ? [] : [head]), ...commits.map(({ id }) => id)])];
  const past = directory.past.flatMap((id) => held.get(id)?.commit ?? []);
  const missing = await withPast(git, request, { starts, past, known });
  return { headTree, commits: missing.commits.size, heads: newestOf(missing), tips, besides, lost };
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
    request.logger.warn('unreachable_commits_lost', { error });
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
  readonly type: string;
  /** What it leads to, where that is a commit that can be read. */
  readonly commit?: string;
  readonly tree?: string;
}

/** What each id is and leads to. Ids of what is not there are left out. */
async function peel(git: Git, request: HistoryRequest, ids: readonly string[]): Promise<Map<string, Peeled>> {
  const peeled = new Map<string, Peeled>();
  if (ids.length === 0) return peeled;
  const { code, stdout } = await git.ask({
    ...inTarget(request.target, request.store, request.signal),
    args: ['cat-file', '--batch-check=%(objectname) %(objecttype)'],
    stdin: ids.map((id) => `${id}\n${id}^{commit}\n${id}^{tree}\n`).join(''),
  });
  const lines = stdout.split('\n');
  if (code !== 0 || lines.length < ids.length * 3)
    throw unsaved('objects_unreadable', 'the objects of the repository cannot be read');
  for (const [index, id] of ids.entries()) {
    const [, type = ''] = (lines[index * 3] ?? '').split(' ');
    const [commit = '', isCommit] = (lines[index * 3 + 1] ?? '').split(' ');
    const [tree = '', isTree] = (lines[index * 3 + 2] ?? '').split(' ');
    if (type === 'missing') continue;
    peeled.set(id, isCommit === 'commit' && isTree === 'tree' ? { type, commit, tree } : { type });
  }
  return peeled;
}

/** Missing is what no file of the repository has, and only where every file that could have it can be read. */
async function refuseUnreadable({ objects, objectFormat }: GitDirectory, missing: readonly string[]): Promise<void> {
  if (missing.length === 0) return;
  for (const folder of objects) {
    const broken = await brokenObjects(folder, objectFormat, missing);
    if (broken !== null) throw unsaved('objects_unreadable', `objects of the repository cannot be read: ${broken}`);
  }
}

function newestOf({ commits }: Missing): string[] {
  const behind = new Set([...commits.values()].flat());
  return [...commits.keys()].filter((id) => !behind.has(id));
}
