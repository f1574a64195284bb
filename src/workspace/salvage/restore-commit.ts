import { copyFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { deleteTree } from '../delete-tree.ts';
import { hasCode } from '../file-system.ts';
import { originConfig, packedReferences, writeBareRepository } from '../git/bare-repository.ts';
import type { Git, GitCall } from '../git/git.ts';
import { type ObjectFormat, plainConfig, setShadow, through } from '../git/shadow/shadow-git.ts';
import type { RestoreResult } from './salvage.ts';
import type { SavedCommit } from './saved-commits.ts';
import { namesOf, restoreConflicts, unpackExtras } from './saved-extras.ts';
import { branchOf, type SavedNote } from './saved-note.ts';

const mostListBytes = 256 * 1024 * 1024;

/** The references of the restored repository for the saved commit, and for names that are not references. */
const restored = 'refs/baton/restored/';

/**
 * Makes a separate repository from a saved commit, in an existing empty folder: the commits, the branches, the former
 * HEAD, the files byte by byte, and in the index the staged files and the conflicts.
 */
export async function restoreCommit(git: Git, saved: SavedCommit, folder: string): Promise<RestoreResult> {
  const { work, note } = saved;
  const source = work.repository;
  const commit = work.commit ?? '';
  const objectFormat = commit.length === 64 ? 'sha256' : 'sha1';
  const gitDir = path.join(folder, '.git');
  await writeBareRepository({ folder: gitDir, objectFormat });
  const origin = note.origin === null ? '' : originConfig(note.origin);
  await writeFile(path.join(gitDir, 'config'), `${plainConfig(objectFormat)}${origin}`);
  await copyFile(path.join(source, 'shallow'), path.join(gitDir, 'shallow')).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });

  const { tips: names } = await namesOf(git, source, note);
  const wanted = names.map(({ id }) => id);
  const ids = await stillThere(git, source, wanted);
  await git.run({
    gitDir: source,
    // Temporary files go where the pack goes, which may be another disk than the source's.
    objects: path.join(gitDir, 'objects'),
    borrowed: [path.join(source, 'objects')],
    args: ['pack-objects', '--revs', '--quiet', '--delta-base-offset', path.join(gitDir, 'objects', 'pack', 'pack')],
    stdin: [commit, ...(note.head === null ? [] : [note.head]), ...ids, ''].join('\n'),
  });
  await unpackExtras(git, gitDir, note);
  const there = await stillThere(git, gitDir, wanted);
  const tips = names.filter(({ id }) => there.has(id));
  const headReference = await putNames(git, gitDir, { ...saved, note: { ...note, tips } });
  const call = { gitDir, workTree: folder, indexFile: path.join(gitDir, 'index') };
  await putFiles(git, { note, commit, call, objectFormat });
  const isStaged = note.staged === null || (await putStaged(git, call, note.staged));
  await restoreConflicts(git, call, note);
  return { folder, branch: branchOf({ headReference }), head: note.head, unstaged: isStaged ? null : note.staged };
}

interface FilesPlace {
  readonly note: SavedNote;
  readonly commit: string;
  readonly call: Required<Pick<GitCall, 'workTree' | 'indexFile'>> & { readonly gitDir: string };
  readonly objectFormat: ObjectFormat;
}

/**
 * Writes the saved files through a shadow git directory. Files that were in the state in which git checks them out come
 * from an ordinary checkout; then only the other files are written. Afterwards the index is that of HEAD.
 */
async function putFiles(git: Git, { note, commit, call, objectFormat }: FilesPlace): Promise<void> {
  const { head, isExact } = note;
  if (head !== null) await git.run({ ...call, args: ['read-tree', '--reset', ...(isExact ? [] : ['-u']), head] });
  // Not in the state folder, because a starting daemon clears it.
  const folder = path.join(call.gitDir, 'baton-restore');
  const known = isExact || head === null ? {} : { index: call.indexFile };
  const shadow = await setShadow({ folder, head, objectFormat, ...known });
  await git.run({
    ...through(shadow, call.workTree),
    borrowed: [path.join(call.gitDir, 'objects')],
    args: ['read-tree', '--reset', '-u', commit],
  });
  await deleteTree(folder);
}

/** Changes only the index: the files exist. False for a tree that git does not accept, such as one with a file `.git`. */
async function putStaged(git: Git, call: Omit<GitCall, 'args'>, staged: string): Promise<boolean> {
  return (await git.ask({ ...call, args: ['read-tree', '--reset', staged] })).code === 0;
}

async function stillThere(git: Git, gitDir: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const text = await git.run({
    gitDir,
    args: ['cat-file', '--batch-check=%(objectname) %(objecttype)'],
    stdin: ids.map((id) => `${id}\n`).join(''),
    maxOutputBytes: mostListBytes,
  });
  const lines = text.split('\n').filter((line) => line !== '' && !line.endsWith(' missing'));
  return new Set(lines.map((line) => line.slice(0, line.indexOf(' '))));
}

/** Restores every name that git accepts. The saved commit has its own reference, which keeps all other objects. */
async function putNames(git: Git, gitDir: string, { work, note }: SavedCommit): Promise<string | null> {
  const { head, headReference } = note;
  const wanted = new Map<string, string>();
  for (const { name, id } of note.tips) {
    if (name.startsWith('refs/') && name !== 'refs/stash') wanted.set(name, id);
    else if (!/^stash@|^refs\/stash$/.test(name)) wanted.set(`${restored}${name}`, id);
  }
  if (head !== null && headReference !== null) wanted.set(headReference, head);
  wanted.set(`${restored}work`, work.commit ?? '');
  const fit = [...wanted].filter(([name]) => referenceName.test(name));
  await writeFile(path.join(gitDir, 'packed-refs'), packedReferences(Object.fromEntries(fit)));
  const named = await putHead(git, gitDir, { head, headReference });
  const stash = note.tips.filter(({ name }) => name.startsWith('stash@{')).toReversed();
  for (const { id } of stash) {
    await git.run({ gitDir, args: ['stash', 'store', '-m', `Salvaged ${id.slice(0, 12)}`, id], settings: identity });
  }
  return named;
}

/** The reference for HEAD. An agent can write one that git does not accept; then HEAD is detached. */
async function putHead(
  git: Git,
  gitDir: string,
  { head, headReference }: { readonly head: string | null; readonly headReference: string | null },
): Promise<string | null> {
  if (headReference !== null && referenceName.test(headReference)) {
    if ((await git.ask({ gitDir, args: ['symbolic-ref', 'HEAD', headReference] })).code === 0) return headReference;
  }
  if (head !== null) await git.run({ gitDir, args: ['update-ref', '--no-deref', 'HEAD', head] });
  return null;
}

/** A name that git accepts. Other names are left out; their commits are kept anyway. */
const referenceName = /^refs\/(?!.*(?:\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)))[^\p{Cc} ~^:?*[\\]+(?<![./])$/u;

const identity = ['user.name=Baton', 'user.email=baton@localhost.invalid'];
