import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '../../core/logger.ts';
import { governingFiles } from '../../core/run/governing-files.ts';
import type { Git, GitCall } from '../git/git.ts';
import { refuseTreeBomb } from '../git/shadow/refuse-tree-bomb.ts';
import { type BytePath, fromBytePath } from '../walk-folders.ts';
import { copyObjects } from './copy-objects.ts';
import { inTarget, readHistory } from './history.ts';
import { recordTree } from './record-tree.ts';
import type { ObjectStore, Repository } from './repository.ts';
import type { SalvageRequest, SavedWork } from './salvage.ts';
import { unsaved } from './salvage-errors.ts';
import { objectsIn, referencePart, salvageReferences, savedCommits } from './saved-commits.ts';
import { writeExtras } from './saved-extras.ts';
import { commitText, issueNote, noteIn, type SavedNote, savedWork, shortNames, subjectOf } from './saved-note.ts';
import type { Target } from './target.ts';
import { flush } from './write-durably.ts';

export interface SaveParts {
  readonly project: string;
  readonly git: Git;
  readonly logger: Logger;
  readonly now: () => number;
}

export interface RepositoryRequest {
  readonly request: SalvageRequest;
  readonly repository: Repository;
  readonly target: Target;
  /** Its number among the repositories of the workspace. */
  readonly number: number;
  readonly origin: string | null;
  /** Files to save although they may be ignored. */
  readonly forced: readonly BytePath[];
  readonly scratch: string;
}

export interface SavedRepository {
  /** Null when all of its work exists elsewhere. */
  readonly work: SavedWork | null;
  /** Files of its HEAD that lie in nested repositories and have to be saved with those. */
  readonly insideNested: readonly BytePath[];
}

/** Further parents go into separate commits. */
const mostParents = 1_000;

const governingMs = 20_000;
const governingBytes = 16 * 1024 * 1024;

/** The empty trees, for the time before the first commit; git knows them without storing them. */
export const emptyTrees = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};

/**
 * Saves one repository of a workspace: a commit whose tree is the current files, with the agent's HEAD, the staged tree
 * and every commit that is nowhere else as parents. Its reference is made last, after everything else was verified.
 */
export async function saveRepository(wanted: RepositoryRequest, parts: SaveParts): Promise<SavedRepository> {
  const { repository, target, scratch, request } = wanted;
  const { git, logger } = parts;
  const { directory, workTree } = repository;
  const { signal } = request;
  const store = await makeStore(scratch, repository, target);
  const key = referencePart(path.basename(request.workspace));
  const history = await readHistory(git, { directory, target, store, key, scratch, logger, signal });
  const before = history.headTree ?? emptyTrees[directory.objectFormat];
  const { tree, staged, conflicts, insideNested } =
    workTree === null
      ? { tree: before, staged: null, conflicts: [], insideNested: [] }
      : await recordTree(git, { repository, workTree, scratch, store, forced: wanted.forced, signal });
  const { heads, tips, lost, held, starts } = history;
  const { inNote, text: names } = shortNames({ heads, tips, lost, held });
  const extras = await writeExtras(
    git,
    { held, commits: starts, conflicts, names },
    writing(target, store, signal),
    scratch,
  );
  const found = { tree, staged: staged === before ? null : staged, extras, ...inNote };

  const earlier = await savedCommits(git, target.gitDir, logger, key);
  const same = earlier.find(({ note }) => isKeptFor(parts.project, note) && isSame(note, wanted, found));
  if (same !== undefined) return { work: same.work, insideNested };
  const isMore = held.length + conflicts.length > 0;
  if (tree === before && found.staged === null && heads.length === 0 && !isMore) return { work: null, insideNested };

  const files = await differing(git, before, tree, wanted, store);
  const note: SavedNote = {
    project: parts.project,
    ...issueNote(request),
    within: repository.within,
    savedAt: parts.now(),
    headReference: directory.headReference,
    head: directory.head,
    files: files.length,
    commits: history.commits,
    ...found,
    isExact: repository.checkout === null,
    ...(await countStaged(git, { before, ...found }, wanted, store)),
    ...(await readGoverning(git, files, heads, wanted, store)),
    origin: wanted.origin,
  };
  const commit = await writeCommits(git, note, heads, wanted, store);
  const standsOn = [...new Set([...(note.head === null ? [] : [note.head]), ...heads])];
  await copyObjects(git, { commit, standsOn, target, store, scratch, signal });
  const run = `${referencePart(request.runId ?? 'unknown')}${wanted.number === 0 ? '' : `+${wanted.number}`}`;
  const name = await makeReference(git, target.gitDir, `${key}/${run}`, commit);
  const reference = `${salvageReferences}${name}`;
  await readBack(git, target, reference, commit);
  return { work: savedWork(note, { name, repository: target.gitDir, reference, commit }), insideNested };
}

/** Reads the entry as a later reader will. If that fails, nothing is removed. */
async function readBack(git: Git, target: Target, reference: string, commit: string): Promise<void> {
  const text = await git.run({ gitDir: target.gitDir, args: ['cat-file', '--batch'], stdin: `${reference}\n` });
  const [found] = objectsIn(text);
  if (found?.id !== commit || noteIn(found.content) === null)
    throw unsaved('saved_incompletely', `Baton cannot read ${reference} back`);
}

/** Whether an entry stays until this project drops it. Entries without a project are not dropped by age. */
function isKeptFor(project: string, note: SavedNote): boolean {
  return note.project === project || note.project === null;
}

/** Whether an earlier entry has exactly the same content. */
function isSame(
  note: SavedNote,
  { repository: { directory, within } }: RepositoryRequest,
  { tree, staged, extras, heads, tips }: Pick<SavedNote, 'tree' | 'staged' | 'extras' | 'heads' | 'tips'>,
): boolean {
  return (
    note.within === within &&
    note.tree === tree &&
    note.staged === staged &&
    note.extras === extras &&
    note.head === directory.head &&
    note.headReference === directory.headReference &&
    heads.every((id) => note.heads.includes(id)) &&
    JSON.stringify(note.tips) === JSON.stringify(tips)
  );
}

async function makeStore(scratch: string, { directory }: Repository, target: Target): Promise<ObjectStore> {
  const objects = path.join(scratch, 'objects');
  await mkdir(path.join(objects, 'pack'), { recursive: true });
  await mkdir(path.join(objects, 'info'), { recursive: true });
  return { objects, borrowed: [...directory.objects, path.join(target.gitDir, 'objects')] };
}

/** A call that writes new objects into the scratch folder, where they need not survive. */
function writing(target: Target, store: ObjectStore, signal: AbortSignal | undefined): Omit<GitCall, 'args'> {
  return { ...inTarget(target, store, signal), objects: store.objects, settings: ['core.fsync=none'] };
}

/** The names of files that differ between two trees. */
async function differing(
  git: Git,
  one: string,
  other: string,
  { target, request: { signal } }: RepositoryRequest,
  store: ObjectStore,
): Promise<readonly BytePath[]> {
  if (one === other) return [];
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--name-only', one, other];
  const names = await git.run({ ...inTarget(target, store, signal), args });
  return names.split('\0').slice(0, -1);
}

/**
 * The governing files among those that differ and those that a commit changed which is nowhere else. Only a mark: an agent
 * can write a history that cannot be read in time, and that must not keep its work from being saved.
 */
async function readGoverning(
  git: Git,
  files: readonly BytePath[],
  heads: readonly string[],
  { target }: RepositoryRequest,
  store: ObjectStore,
): Promise<Pick<SavedNote, 'governing'>> {
  try {
    const args = ['log', '-z', '-c', '--format=', '--name-only', '--no-renames', '--no-show-signature', '--stdin'];
    const call = { ...inTarget(target, store, undefined), timeoutMs: governingMs, maxOutputBytes: governingBytes };
    const not = ['--not', `--exclude=${salvageReferences}*`, '--all'];
    const inCommits =
      heads.length === 0 ? '' : await git.run({ ...call, args: [...args, ...not], stdin: `${heads.join('\n')}\n` });
    const all = new Set([...files, ...inCommits.split('\0')]);
    const governing = governingFiles(
      [...all].map((name) => fromBytePath(name).toString('utf8')),
      ['WORKFLOW.md'],
    );
    return governing.length === 0 ? {} : { governing };
  } catch {
    return { governing: null };
  }
}

/** An index can name any tree. One with more files than any work tree is refused, as it is for HEAD. */
async function countStaged(
  git: Git,
  { before, tree, staged }: { readonly before: string; readonly tree: string; readonly staged: string | null },
  wanted: RepositoryRequest,
  store: ObjectStore,
): Promise<Pick<SavedNote, 'stagedFiles' | 'stagedOtherwise'>> {
  if (staged === null) return { stagedFiles: 0, stagedOtherwise: 0 };
  const borrowed = [store.objects, ...store.borrowed];
  if (staged !== tree) await refuseTreeBomb(git, { gitDir: wanted.target.gitDir, borrowed }, staged);
  const files = await differing(git, before, staged, wanted, store);
  const otherwise = new Set(await differing(git, staged, tree, wanted, store));
  return { stagedFiles: files.length, stagedOtherwise: files.filter((name) => otherwise.has(name)).length };
}

/** Writes the commit as bytes, so that author and time come from Baton and not from a configuration. */
async function writeCommits(
  git: Git,
  note: SavedNote,
  heads: readonly string[],
  wanted: RepositoryRequest,
  store: ObjectStore,
): Promise<string> {
  const { head } = wanted.repository.directory;
  const call = writing(wanted.target, store, wanted.request.signal);
  const args = ['hash-object', '-t', 'commit', '-w', '--stdin'];
  const write = async (tree: string, parents: readonly string[], subject: string): Promise<string> =>
    (await git.run({ ...call, args, stdin: commitText(note, { tree, parents, subject }) })).trim();
  const first = head === null ? [] : [head];
  const staged =
    note.staged === null || note.staged === note.tree ? [] : [await write(note.staged, first, 'Staged files')];
  const extras = note.extras === null ? [] : [await write(note.extras, [], 'Other objects of the saved work')];
  let rest = heads.filter((id) => id !== head);
  while (rest.length > mostParents) {
    const groups: string[] = [];
    for (let at = 0; at < rest.length; at += mostParents) {
      groups.push(await write(note.tree, rest.slice(at, at + mostParents), 'More commits that were nowhere else'));
    }
    rest = groups;
  }
  return write(note.tree, [...first, ...staged, ...extras, ...rest], subjectOf(note));
}

/** Uses this name, or adds a number to it: an existing reference is never replaced. */
export async function makeReference(git: Git, gitDir: string, wanted: string, commit: string): Promise<string> {
  const none = '0'.repeat(commit.length);
  for (let number = 1; number < 1_000; number += 1) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    const reference = `${salvageReferences}${name}`;
    const { code, stderr } = await git.ask({ gitDir, args: ['update-ref', '--no-deref', reference, commit, none] });
    // A killed process may have left its lock; Baton cannot tell whose lock it is.
    if (code !== 0 && !/already exists|File exists/.test(stderr))
      throw unsaved('reference_refused', `git refused the reference ${reference}`, stderr);
    if (code !== 0) continue;
    await flush(path.dirname(path.join(gitDir, reference))).catch(() => {
      // Not every repository stores a reference in a file; then git has written it durably.
    });
    return name;
  }
  throw unsaved('reference_refused', `there are too many references named ${wanted}`);
}
