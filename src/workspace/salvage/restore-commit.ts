import { chmod, copyFile, lstat, mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import { deleteTree } from '../delete-tree.ts';
import { hasCode } from '../error-reason.ts';
import { type BytePath, fromBytePath, toBytePath } from '../folders-of.ts';
import { writeBareRepository } from '../git/bare-repository.ts';
import type { Git, GitCall } from '../git/git.ts';
import { plainConfig, setLens, through } from '../git/lens.ts';
import { lookAt } from '../look-at.ts';
import { shownPath } from './find-repositories.ts';
import { isPlainPath } from './path-in-tree.ts';
import type { RestoreResult } from './salvage.ts';
import type { SavedCommit } from './saved-commits.ts';
import { namesOf, restoreConflicts, unpackExtras } from './saved-extras.ts';
import { branchOf } from './saved-note.ts';

const mostListBytes = 256 * 1024 * 1024;

/** Where the restored repository keeps the saved commit, and names that are no references. */
const restored = 'refs/baton/restored/';

/**
 * Makes a repository of its own from a saved commit, in a folder that is there and empty: the commits, the branches, HEAD
 * as it was, files as a checkout makes them, over them what was not committed, byte by byte, and what was staged in the
 * index.
 */
export async function restoreCommit(git: Git, saved: SavedCommit, folder: string): Promise<RestoreResult> {
  const { work, note } = saved;
  const source = work.repository;
  const commit = work.commit ?? '';
  const objectFormat = commit.length === 64 ? 'sha256' : 'sha1';
  const gitDir = path.join(folder, '.git');
  await writeBareRepository({ folder: gitDir, objectFormat });
  await writeFile(path.join(gitDir, 'config'), plainConfig(objectFormat));
  await copyFile(path.join(source, 'shallow'), path.join(gitDir, 'shallow')).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });

  const { tips: names } = await namesOf(git, source, note);
  const wanted = names.map(({ id }) => id);
  const ids = await stillThere(git, source, wanted);
  await git.run({
    gitDir: source,
    // What git writes meanwhile goes where the pack goes, which may be another disk than the source's.
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
  if (note.head !== null) await git.run({ ...call, args: ['read-tree', '--reset', '-u', note.head] });
  // Not in the state folder, which a daemon that starts meanwhile tidies up.
  const scratch = path.join(gitDir, 'baton-restore');
  await putChanges(git, { commit, head: note.head, isExact: note.isExact, gitDir, folder, scratch, objectFormat });
  await deleteTree(scratch);
  const isStaged = note.staged === null || (await putStaged(git, call, note.staged));
  await restoreConflicts(git, call, note);
  return { folder, branch: branchOf({ headReference }), head: note.head, unstaged: isStaged ? null : note.staged };
}

/** Only into the index: the files are there. False for a tree that git does not take, such as one with a file `.git`. */
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

/** Puts back every name that git takes; the saved commit has one of its own, and keeps the rest from being dropped. */
async function putNames(git: Git, gitDir: string, { work, note }: SavedCommit): Promise<string | null> {
  const { head, headReference, origin } = note;
  const wanted = new Map<string, string>();
  for (const { name, id } of note.tips) {
    if (name.startsWith('refs/') && name !== 'refs/stash') wanted.set(name, id);
    else if (!/^stash@|^refs\/stash$/.test(name)) wanted.set(`${restored}${name}`, id);
  }
  if (head !== null && headReference !== null) wanted.set(headReference, head);
  wanted.set(`${restored}work`, work.commit ?? '');
  await putReferences(git, gitDir, wanted);
  const named = await putHead(git, gitDir, { head, headReference });
  const stash = note.tips.filter(({ name }) => name.startsWith('stash@{')).toReversed();
  for (const { id } of stash) {
    await git.run({ gitDir, args: ['stash', 'store', '-m', `Salvaged ${id.slice(0, 12)}`, id], settings: identity });
  }
  if (origin === null) return named;
  await git.run({ gitDir, args: ['config', 'remote.origin.url', origin] });
  await git.run({ gitDir, args: ['config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*'] });
  return named;
}

/** The reference that HEAD names now: an agent can write one that git does not take, and then HEAD is detached. */
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

/** A name that git takes. One that it does not is left out: the commit is there anyway. */
const referenceName = /^refs\/(?!.*(?:\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)))[^\p{Cc} ~^:?*[\\]+(?<![./])$/u;

/** All at once; where one is in the way of another, one by one. */
async function putReferences(git: Git, gitDir: string, wanted: ReadonlyMap<string, string>): Promise<void> {
  const fit = [...wanted].filter(([name]) => referenceName.test(name));
  const stdin = fit.map(([name, id]) => `update ${name}\0${id}\0\0`).join('');
  const { code } = await git.ask({ gitDir, args: ['update-ref', '--no-deref', '-z', '--stdin'], stdin });
  if (code === 0) return;
  for (const [name, id] of fit) await git.ask({ gitDir, args: ['update-ref', '--no-deref', name, id] });
  const work = `${restored}work`;
  await git.run({ gitDir, args: ['rev-parse', '--verify', '--quiet', work] });
}

const identity = ['user.name=Baton', 'user.email=baton@localhost.invalid'];

interface ChangesPlace {
  readonly commit: string;
  readonly head: string | null;
  readonly isExact: boolean;
  readonly gitDir: string;
  readonly folder: string;
  readonly scratch: string;
  readonly objectFormat: 'sha1' | 'sha256';
}

/** The saved files that differ from HEAD, written through a lens into a folder of their own and moved from there. */
async function putChanges(git: Git, place: ChangesPlace): Promise<void> {
  const { commit, head, isExact, gitDir, folder, scratch, objectFormat } = place;
  const raw = path.join(scratch, 'files');
  await mkdir(raw, { recursive: true });
  const lens = await setLens({ folder: path.join(scratch, 'lens'), head, objectFormat });
  const call: Omit<GitCall, 'args'> = {
    ...through(lens, raw),
    borrowed: [path.join(gitDir, 'objects')],
    settings: ['core.fsync=none'],
    maxOutputBytes: mostListBytes,
  };
  await git.run({ ...call, args: ['read-tree', commit] });
  await git.run({ ...call, args: ['checkout-index', '--all', '--force'] });
  const [from, to] = [toBytePath(raw), toBytePath(folder)];
  const changes =
    head === null
      ? allAdded(await git.run({ ...call, args: ['ls-files', '-z'] }))
      : changesIn(
          await git.run({ ...call, args: ['diff-tree', '-r', '-z', '--no-renames', '--name-status', head, commit] }),
        );
  const plain = changes.filter(({ name }) => isPlainPath(name));
  // First what is gone: a folder may be where a file was, and the other way round.
  for (const { name, isGone } of plain)
    if (isGone && (await isWayPlain(to, name)))
      await rm(fromBytePath(`${to}/${name}`), { recursive: true, force: true });
  for (const { name, isGone } of plain) if (!isGone) await putFile(from, to, name);
  if (!isExact) return;
  // Where attributes want other line ends than the file had, the checkout has made them.
  const converted = await git.run({ ...call, workTree: folder, args: ['diff', '-z', '--no-renames', '--name-only'] });
  for (const name of converted.split('\0').filter((each) => each !== '' && isPlainPath(each)))
    await putFile(from, to, name);
}

interface Change {
  readonly name: BytePath;
  readonly isGone: boolean;
}

function allAdded(list: string): Change[] {
  return list.split('\0').flatMap((name) => (name === '' ? [] : [{ name, isGone: false }]));
}

function changesIn(list: string): Change[] {
  const fields = list.split('\0');
  const changes: Change[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2)
    changes.push({ name: fields[at + 1] ?? '', isGone: fields[at] === 'D' });
  return changes;
}

/**
 * Whether nothing on the way to a file is a link or a file. In a tree of an agent's making one name can be both a folder
 * and a link, and behind a link are the person's own files.
 */
async function isWayPlain(root: BytePath, name: BytePath): Promise<boolean> {
  const parts = name.split('/');
  for (let depth = 1; depth < parts.length; depth += 1) {
    const found = await lookAt(fromBytePath(`${root}/${parts.slice(0, depth).join('/')}`));
    if (found === null) return true;
    if (!found.isDirectory()) return false;
  }
  return true;
}

/** Takes the place of whatever is there. A commit of another repository has no file. */
async function putFile(source: BytePath, folder: BytePath, name: BytePath): Promise<void> {
  const [from, to] = [`${source}/${name}`, `${folder}/${name}`];
  const found = (await isWayPlain(source, name)) ? await lstat(fromBytePath(from)) : null;
  if (found === null || !(await isWayPlain(folder, name)))
    throw new BatonError('restore_refused', `The saved file ${shownPath(name)} leads out of the folder.`);
  await rm(fromBytePath(to), { recursive: true, force: true });
  await mkdir(fromBytePath(to.slice(0, to.lastIndexOf('/'))), { recursive: true });
  if (found.isSymbolicLink()) {
    await symlink(await readlink(fromBytePath(from), { encoding: 'buffer' }), fromBytePath(to));
  } else if (found.isFile()) {
    await writeFile(fromBytePath(to), await readFile(fromBytePath(from)));
    await chmod(fromBytePath(to), found.mode & 0o777);
  } else if (found.isDirectory()) await mkdir(fromBytePath(to));
  else throw new BatonError('git_failed', 'A saved file could not be written.');
}
