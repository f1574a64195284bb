import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import { hasCode } from '../file-system.ts';
import type { Git } from '../git/git.ts';
import { refuseTreeBomb } from '../git/shadow/refuse-tree-bomb.ts';
import { copyIndex, type ShadowGit, setShadow, through } from '../git/shadow/shadow-git.ts';
import { type BytePath, fromBytePath, toBytePath } from '../walk-folders.ts';
import { type AgentIndex, readAgentIndex } from './agent-index.ts';
import { isBelow, joined, kindAt } from './path-in-tree.ts';
import type { ObjectStore, Repository } from './repository.ts';

export interface RecordedTree {
  /** Every tracked file and every untracked file that is not ignored, byte by byte. */
  readonly tree: string;
  /** The tree of the agent's index without files in conflict; null when there is no index. */
  readonly staged: string | null;
  readonly conflicts: AgentIndex['conflicts'];
  /** Files of HEAD that lie in nested repositories, by their paths below this repository. */
  readonly insideNested: readonly BytePath[];
}

export interface RecordRequest {
  readonly repository: Repository;
  readonly workTree: string;
  readonly scratch: string;
  readonly store: ObjectStore;
  /** Files to save although they may be ignored. */
  readonly forced: readonly BytePath[];
  readonly signal: AbortSignal | undefined;
}

/** All new objects go into one pack; none of them has to survive a crash. */
const quickly = ['core.bigFileThreshold=1', 'core.compression=1', 'core.fsync=none'];

const mostListBytes = 256 * 1024 * 1024;

/** The mode of a commit of another repository in a tree. */
const gitlink = '160000';

/** Writes the content of the work tree as a tree. Any error of git is an error here: nothing is skipped. */
export async function recordTree(git: Git, request: RecordRequest): Promise<RecordedTree> {
  const { repository, workTree, scratch, store, signal } = request;
  const { directory, nested } = repository;
  const shadow = await ownShadow(request);
  const call = { ...through(shadow, workTree), ...store, settings: quickly, maxOutputBytes: mostListBytes };
  const run: Run = (args, names) => git.run({ ...call, args, stdin: names && fromBytePath(joined(names)), signal });

  if (directory.head !== null && directory.head !== repository.checkout?.baseCommit)
    await refuseTreeBomb(git, { gitDir: shadow.folder, borrowed: store.borrowed }, directory.head);
  await readHead(run, shadow, directory.head);
  const insideNested = await freeGitlinks(run, repository, workTree);
  const index = await readAgentIndex(git, { directory, workTree, scratch, store: { ...store, settings: quickly } });
  await hideLeftOut(run, index);

  const rules = nested.flatMap((folder) => leavingOut(folder));
  await run(['add', '-A', '--sparse', ...pathspecs], [':(top)', ...rules]);
  const wanted = [...new Set([...request.forced, ...(index?.forced ?? [])])];
  const forced: BytePath[] = [];
  for (const name of wanted) {
    if (nested.some((folder) => isBelow(name, folder))) continue;
    if ((await kindAt(toBytePath(workTree), name)) === 'file') forced.push(`:(literal,top)${name}`);
  }
  if (forced.length > 0) await run(['add', '-f', '--sparse', ...pathspecs], forced);
  // A later step checks that all objects of the tree exist.
  const tree = (await run(['write-tree', '--missing-ok'])).trim();
  return { tree, staged: index?.tree ?? null, conflicts: index?.conflicts ?? [], insideNested };
}

/**
 * A shadow git directory for this call only. It starts with the index that the last examination of this HEAD left, or
 * with that of the checkout, so that git need not read unchanged files.
 */
async function ownShadow({ repository, scratch }: RecordRequest): Promise<ShadowGit> {
  const { directory, checkout } = repository;
  const { head, objectFormat } = directory;
  const excludes = checkout?.excludes ?? [];
  const shadow = await setShadow({ folder: path.join(scratch, 'shadow'), head, objectFormat, excludes });
  if (checkout === null) return shadow;
  const looked = head === null ? [] : [path.join(checkout.shadow, 'looked', head)];
  for (const index of [...looked, path.join(checkout.shadow, 'index')]) {
    try {
      await copyIndex(index, shadow.indexFile);
      return shadow;
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
  }
  return shadow;
}

/** Passes names to git on standard input, because arguments must be valid text. */
type Run = (args: readonly string[], names?: readonly BytePath[]) => Promise<string>;

const pathspecs = ['--pathspec-from-file=-', '--pathspec-file-nul'];

/** Puts every file of HEAD into the index, also those that are ignored now. */
async function readHead(run: Run, shadow: ShadowGit, head: string | null): Promise<void> {
  if (head === null) {
    await rm(shadow.indexFile, { force: true });
    await run(['read-tree', '--empty']);
    return;
  }
  try {
    await run(['read-tree', '-m', head]);
  } catch (error) {
    if (!(error instanceof BatonError) || error.code !== 'git_failed') throw error;
    // The index of a shadow only saves time.
    await rm(shadow.indexFile, { force: true });
    await rm(`${shadow.indexFile}.lock`, { force: true });
    await run(['read-tree', head]);
  }
}

/**
 * Git does not descend into a folder that is a submodule in HEAD and no repository now: its files count as files.
 * Returns the files of HEAD in folders that have become repositories; they are saved with those.
 */
async function freeGitlinks(run: Run, { nested }: Repository, workTree: string): Promise<BytePath[]> {
  const inside: BytePath[] = [];
  const freed: BytePath[] = [];
  for (const line of (await run(['ls-files', '-s', '-z'])).split('\0')) {
    const name = line.slice(line.indexOf('\t') + 1);
    if (line === '') continue;
    if (!line.startsWith(gitlink)) {
      if (nested.some((folder) => isBelow(name, folder))) inside.push(name);
      continue;
    }
    if (nested.includes(name) || (await kindAt(toBytePath(workTree), name)) !== 'folder') continue;
    if ((await readdir(fromBytePath(`${toBytePath(workTree)}/${name}`))).length > 0) freed.push(name);
  }
  if (freed.length > 0) await run(['update-index', '--force-remove', '-z', '--stdin'], freed);
  return inside;
}

/** Files that a sparse checkout left out are not deleted. */
async function hideLeftOut(run: Run, index: AgentIndex | null): Promise<void> {
  const names = index?.leftOut ?? [];
  if (names.length === 0) return;
  const known = new Set((await run(['ls-files', '-z'])).split('\0'));
  const hidden = names.filter((name) => known.has(name));
  if (hidden.length > 0) await run(['update-index', '--skip-worktree', '-z', '--stdin'], hidden);
}

/**
 * Patterns that leave out a folder. With a literal path, `git add` would complain about an ignored folder as if it had
 * been asked to add it. A pattern that begins with a character class does not count as a path.
 */
function leavingOut(folder: BytePath): BytePath[] {
  const pattern = `[\\${folder.slice(0, 1)}]${folder.slice(1).replaceAll(/[*?[\]\\]/g, (character) => `\\${character}`)}`;
  return [`:(exclude,glob,top)${pattern}`, `:(exclude,glob,top)${pattern}/**`];
}
