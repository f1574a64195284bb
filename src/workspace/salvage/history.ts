import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import type { Logger } from '../../core/logger.ts';
import { lstatOrNull, reasonOf } from '../file-system.ts';
import type { Git, GitCall } from '../git/git.ts';
import type { GitDirectory, Tip } from '../git/read/git-directory.ts';
import { setShadow } from '../git/shadow/shadow-git.ts';
import type { ObjectStore } from './repository.ts';
import { unsaved } from './salvage-errors.ts';
import { salvageReferences, savedCommits } from './saved-commits.ts';
import { namesOf } from './saved-extras.ts';
import type { Target } from './target.ts';

/** The commits of a repository, compared with those of the repository that takes its work. */
export interface History {
  /** The tree of HEAD; null before the first commit. */
  readonly headTree: string | null;
  /** How many commits are nowhere else. */
  readonly commits: number;
  /** The newest of them; every other one is an ancestor of these. */
  readonly heads: readonly string[];
  /** Every reference with its object: usually a commit or a tag, rarely a file or a tree. */
  readonly tips: readonly Tip[];
  /**
   * Objects that references point to, that are not commits and that no reference of the target has: tags, rarely files
   * or trees.
   */
  readonly held: readonly string[];
  /** The commits that references point to, HEAD first. */
  readonly starts: readonly string[];
  /** References to missing objects: there is nothing to save. */
  readonly lost: readonly string[];
}

export interface HistoryRequest {
  readonly directory: GitDirectory;
  readonly target: Target;
  readonly store: ObjectStore;
  /** The key of the workspace. Saved work of other workspaces counts as kept. */
  readonly key: string;
  readonly scratch: string;
  readonly logger: Logger;
  readonly signal: AbortSignal | undefined;
}

const mostListBytes = 256 * 1024 * 1024;

/**
 * Finds the commits that the target lacks. Other saved work in it does not count, because it may be dropped earlier.
 * Rejects when HEAD, or the object of any reference, cannot be read. An object counts as lost only if it is in no file of
 * an intact repository.
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
    throw unsaved('objects_unreadable', `git cannot read the HEAD commit ${head}`);
  await refuseUnreadable(
    git,
    request,
    ids.filter((id) => !held.has(id)),
  );

  const tips = directory.tips.filter(({ id }) => held.has(id));
  const lost = directory.tips.filter(({ id }) => !held.has(id)).map(({ name }) => name);
  if (lost.length > 0) logger.warn('refs_point_nowhere', { names: lost.slice(0, 20) });
  const commits: Tip[] = [];
  for (const { name, id } of tips) {
    const { type, commit } = held.get(id) ?? {};
    if (commit !== undefined) commits.push({ name, id: commit });
    else if (type === 'commit') throw unsaved('objects_unreadable', `git cannot read the object ${id} of ${name}`);
  }
  const odd = [...new Set(tips.map(({ id }) => id))].filter((id) => held.get(id)?.type !== 'commit');
  const kept = odd.length === 0 ? new Set() : await heldByTarget(git, request);

  const known = await knownElsewhere(git, request, commits);
  const starts = [...new Set([...(head === null ? [] : [head]), ...commits.map(({ id }) => id)])];
  const past = directory.past.flatMap((id) => held.get(id)?.commit ?? []);
  const missing = await withPast(git, request, { starts, past, known });
  return {
    headTree,
    commits: missing.commits.size,
    heads: newestOf(missing),
    tips,
    held: odd.filter((id) => !kept.has(id)),
    starts,
    lost,
  };
}

export interface Missing {
  /** Each commit with its parents. */
  readonly commits: ReadonlyMap<string, readonly string[]>;
  /** The commits at which the target's own history begins. */
  readonly boundary: readonly string[];
}

export interface MissingRequest extends Pick<HistoryRequest, 'target' | 'store' | 'signal'> {
  readonly starts: readonly string[];
  /** Commits that count as known, in addition to those of the target's references. */
  readonly known: readonly string[];
  readonly salvageCounts: boolean;
}

/** The ancestors of `starts`, with `starts`, that no reference of the target has. */
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

/** The commits in the caches, which are never pruned. */
export async function cachedCommits(git: Git, { caches }: Target): Promise<string[]> {
  const found: string[] = [];
  for (const gitDir of caches) {
    const text = await git.run({ gitDir, args: ['for-each-ref', '--format=%(objectname)'] });
    found.push(...text.split('\n').filter((line) => line !== ''));
  }
  return [...new Set(found)];
}

/** A git call in the target that also sees objects outside of it. */
export function inTarget(target: Target, store: ObjectStore, signal: AbortSignal | undefined): Omit<GitCall, 'args'> {
  return {
    gitDir: target.gitDir,
    borrowed: [store.objects, ...store.borrowed],
    maxOutputBytes: mostListBytes,
    signal,
  };
}

/** The log of HEAD may name commits whose objects are gone; then only commits that references name are saved. */
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
 * In a repository of Baton's own, fetched history counts as known once it was saved, so that the same history is not
 * saved again for each clone.
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
  /** The commit that it points to, if that can be read. */
  readonly commit?: string;
  readonly tree?: string;
}

/** The type and target of each id. Ids of missing objects are left out. */
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
    throw unsaved('objects_unreadable', 'git cannot read the objects of the repository');
  for (const [index, id] of ids.entries()) {
    const [, type = ''] = (lines[index * 3] ?? '').split(' ');
    const [commit = '', isCommit] = (lines[index * 3 + 1] ?? '').split(' ');
    const [tree = '', isTree] = (lines[index * 3 + 2] ?? '').split(' ');
    if (type === 'missing') continue;
    peeled.set(id, isCommit === 'commit' && isTree === 'tree' ? { type, commit, tree } : { type });
  }
  return peeled;
}

/**
 * An object is missing if no file of the repository has it, and every file that could have it can be read: git then
 * reports no error about them. Git does not report a pack without an index, because it ignores it.
 */
async function refuseUnreadable(
  git: Git,
  { directory: { objects, objectFormat }, scratch, signal }: HistoryRequest,
  missing: readonly string[],
): Promise<void> {
  if (missing.length === 0) return;
  const shadow = await setShadow({ folder: path.join(scratch, 'missing'), head: null, objectFormat });
  const { stderr } = await git.ask({
    gitDir: shadow.folder,
    borrowed: objects,
    args: ['cat-file', '--batch-check'],
    stdin: `${missing.join('\n')}\n`,
    maxOutputBytes: mostListBytes,
    signal,
  });
  let broken = stderr.trim();
  for (const folder of objects) {
    for (const id of missing) {
      const file = path.join(folder, id.slice(0, 2), id.slice(2));
      if ((await lstatOrNull(file)) !== null) broken ||= `${file} is not an object`;
    }
    const packs =
      (await lstatOrNull(path.join(folder, 'pack'))) === null ? [] : await readdir(path.join(folder, 'pack'));
    const lone = packs.find((name) => name.endsWith('.pack') && !packs.includes(name.replace(/pack$/, 'idx')));
    if (lone !== undefined) broken ||= `${path.join(folder, 'pack', lone)} has no index`;
  }
  if (broken !== '')
    throw unsaved('objects_unreadable', `git cannot read some objects of the repository: ${reasonOf(broken)}`);
}

/** How many saved entries are searched. The same tags are saved once, so few entries have any. */
const mostEntries = 50;

/**
 * The objects of the target's own references. In a repository of Baton's also those of saved work of other workspaces: a
 * clone has the tags of its source, and they are not saved again for each clone.
 */
async function heldByTarget(git: Git, request: HistoryRequest): Promise<ReadonlySet<string>> {
  const { target, directory, key, logger } = request;
  const { gitDir } = target;
  const text = await git.run({ gitDir, args: ['for-each-ref', '--format=%(objectname) %(refname)'] });
  const lines = text.split('\n').map((line) => line.split(' '));
  const own = lines.filter(([, name = salvageReferences]) => !name.startsWith(salvageReferences));
  const found = new Set(own.map(([id = '']) => id));
  if (!target.isOurs) return found;
  for (const id of await cachedCommits(git, target)) found.add(id);
  if (!directory.tips.some(({ name }) => name.startsWith('refs/remotes/'))) return found;
  const saved = await savedCommits(git, gitDir, logger);
  const others = saved.filter(({ work, note }) => note.extras !== null && !work.name.startsWith(`${key}/`));
  for (const { note } of others.slice(0, mostEntries)) {
    for (const id of (await namesOf(git, gitDir, note)).held) found.add(id);
  }
  return found;
}

function newestOf({ commits }: Missing): string[] {
  const behind = new Set([...commits.values()].flat());
  return [...commits.keys()].filter((id) => !behind.has(id));
}
