import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '../../core/logger.ts';
import type { BytePath } from '../folders-of.ts';
import type { Git } from '../git/git.ts';
import { setLens } from '../git/lens.ts';
import { bringObjects } from './bring-objects.ts';
import { flush } from './durable.ts';
import { unsaved } from './find-repositories.ts';
import { type History, readHistory, salvageReferences } from './history.ts';
import { recordTree } from './record-tree.ts';
import { referencePart } from './reference-part.ts';
import type { ObjectStore, Repository } from './repository.ts';
import type { SalvageRequest, SavedWork } from './salvage.ts';
import { savedCommits } from './saved-commits.ts';
import { commitText, issueNote, type SavedNote, savedWork, subjectOf } from './saved-note.ts';
import type { Target } from './target.ts';

export interface SaveParts {
  readonly git: Git;
  readonly logger: Logger;
  readonly now: () => number;
}

export interface RepositoryRequest {
  readonly request: SalvageRequest;
  readonly repository: Repository;
  readonly target: Target;
  /** Its place among the repositories of the workspace. */
  readonly number: number;
  readonly origin: string | null;
  /** Files to save although they may be ignored. */
  readonly forced: readonly BytePath[];
  readonly scratch: string;
}

export interface SavedRepository {
  /** Null when there was nothing that is not elsewhere. */
  readonly work: SavedWork | null;
  /** Files of its HEAD that lie in nested repositories and have to be saved with those. */
  readonly insideNested: readonly BytePath[];
}

/** More parents than this go into commits of their own. */
const mostParents = 1_000;

/** What there is before the first commit; git knows them without keeping them. */
export const emptyTrees = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};

/**
 * Saves one repository of a workspace: a commit whose tree is what the files are, and behind it the agent's HEAD, what was
 * staged, and every commit that is nowhere else. Its reference is made last, when everything else was verified.
 */
export async function saveRepository(wanted: RepositoryRequest, parts: SaveParts): Promise<SavedRepository> {
  const { repository, target, scratch, request } = wanted;
  const { git, logger } = parts;
  const { directory, workTree } = repository;
  const { signal } = request;
  const store = await makeStore(scratch, repository, target);
  const history = await readHistory(git, { directory, target, store, logger, signal });
  const before = history.headTree ?? emptyTrees[directory.objectFormat];
  const { tree, staged, insideNested } =
    workTree === null
      ? { tree: before, staged: null, insideNested: [] }
      : await recordTree(git, { repository, workTree, scratch, store, forced: wanted.forced, signal });
  const found = { tree, staged: staged === before || staged === tree ? null : staged };

  const key = referencePart(path.basename(request.workspace));
  const earlier = await savedCommits(git, target.gitDir, logger, key);
  const same = earlier.find(({ note }) => isSame(note, wanted, history, found));
  if (same !== undefined) return { work: same.work, insideNested };
  if (tree === before && found.staged === null && history.heads.length === 0) return { work: null, insideNested };

  const note: SavedNote = {
    ...issueNote(request),
    within: repository.within,
    savedAt: parts.now(),
    headReference: directory.headReference,
    head: directory.head,
    files: await countFiles(git, before, tree, wanted, store),
    commits: history.commits,
    ...found,
    heads: history.heads,
    tips: history.tips,
    lost: history.lost,
    origin: wanted.origin,
  };
  const commit = await writeCommits(git, note, wanted, store);
  const standsOn = [...new Set([...(note.head === null ? [] : [note.head]), ...note.heads])];
  await bringObjects(git, { commit, standsOn, target, store, scratch, signal });
  const run = `${referencePart(request.runId ?? 'unknown')}${wanted.number === 0 ? '' : `+${wanted.number}`}`;
  const name = await makeReference(git, target, `${key}/${run}`, commit);
  const reference = `${salvageReferences}${name}`;
  return { work: savedWork(note, { name, repository: target.gitDir, reference, commit }), insideNested };
}

/** Whether an earlier entry holds exactly this. */
function isSame(
  note: SavedNote,
  { repository: { directory, within } }: RepositoryRequest,
  { heads, tips }: History,
  { tree, staged }: { tree: string; staged: string | null },
): boolean {
  return (
    note.within === within &&
    note.tree === tree &&
    note.staged === staged &&
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

async function countFiles(
  git: Git,
  before: string,
  tree: string,
  { target, request: { signal } }: RepositoryRequest,
  store: ObjectStore,
): Promise<number> {
  if (before === tree) return 0;
  const names = await git.run({
    gitDir: target.gitDir,
    borrowed: [store.objects, ...store.borrowed],
    args: ['diff-tree', '-r', '-z', '--no-renames', '--name-only', before, tree],
    maxOutputBytes: 256 * 1024 * 1024,
    ...(signal === undefined ? {} : { signal }),
  });
  return names.split('\0').length - 1;
}

/** Written as the bytes of a commit, so that its author and time are ours and not those of any configuration. */
async function writeCommits(git: Git, note: SavedNote, wanted: RepositoryRequest, store: ObjectStore): Promise<string> {
  const { scratch, request } = wanted;
  const { head, objectFormat } = wanted.repository.directory;
  const lens = await setLens({ folder: path.join(scratch, 'commits'), head, objectFormat });
  const write = async (tree: string, parents: readonly string[], subject: string): Promise<string> => {
    const written = await git.run({
      gitDir: lens.folder,
      ...store,
      settings: ['core.fsync=none'],
      args: ['hash-object', '-t', 'commit', '-w', '--stdin'],
      stdin: commitText(note, { tree, parents, subject }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    return written.trim();
  };
  const first = head === null ? [] : [head];
  const staged = note.staged === null ? [] : [await write(note.staged, first, 'What was staged')];
  let rest = note.heads.filter((id) => id !== head);
  while (rest.length > mostParents) {
    const groups: string[] = [];
    for (let at = 0; at < rest.length; at += mostParents) {
      groups.push(await write(note.tree, rest.slice(at, at + mostParents), 'More that was nowhere else'));
    }
    rest = groups;
  }
  return write(note.tree, [...first, ...staged, ...rest], subjectOf(note));
}

/** Under this name, or with a number behind it: what is there is never replaced. */
async function makeReference(git: Git, target: Target, wanted: string, commit: string): Promise<string> {
  const none = '0'.repeat(commit.length);
  for (let number = 1; number < 1_000; number += 1) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    const reference = `${salvageReferences}${name}`;
    const { code, stderr } = await git.ask({
      gitDir: target.gitDir,
      args: ['update-ref', '--no-deref', reference, commit, none],
    });
    if (code !== 0 && !stderr.includes('already exists'))
      throw unsaved(`git refused the reference ${reference}`, stderr);
    if (code !== 0) continue;
    await flush(path.dirname(path.join(target.gitDir, reference))).catch(() => {
      // Not every repository keeps a reference in a file; git has written it durably.
    });
    return name;
  }
  throw unsaved(`there are too many entries ${wanted}`);
}
