import path from 'node:path';
import { BatonError } from '../../../core/baton-error.ts';
import { lstatOrNull, reasonOf } from '../../file-system.ts';
import { type BytePath, fromBytePath, toBytePath } from '../../walk-folders.ts';
import type { ObjectFormat } from '../shadow/shadow-git.ts';
import type { GitDirectory, Tip } from './git-directory.ts';
import {
  idIn,
  isFolder,
  isNoId,
  mostListBytes,
  nameText,
  notUnderstood,
  pathText,
  shown,
  textIn,
  withoutLineEnd,
} from './git-files.ts';
import { readObjectDirectories } from './read-object-directories.ts';
import { parseReference, type References, readReferences, resolveReference } from './read-references.ts';
import { readHeads, readPast, readStash, readWorktreeHeads } from './read-tips.ts';

/** More loose references than this are not read. */
const mostReferences = 100_000;

const mostConfigBytes = 1024 * 1024;

/**
 * Reads a git directory without git: `dotGit` is the path of a `.git`, a directory or a file that names one. Null when
 * nothing is there. Rejects when it cannot be understood completely; unknown counts as dirty. Inside of it no link is
 * followed and only plain files are opened.
 *
 * Only paths and names are read by hand; git reads the objects, from a git directory of Baton's own. Git's own way to
 * read an untrusted directory is git-upload-pack(1). It runs nothing that the directory names, but Baton avoids it:
 *
 * - It follows `commondir`, alternates and links to any target, so that a fetch brings objects of other repositories.
 * - It waits for ever at a pipe.
 * - It leaves out without an error the references that `transfer.hideRefs` hides and the commits that the file
 *   `shallow` cuts off, and it never has the reflogs, the older entries of the stash, and the commits of an
 *   unfinished merge or rebase.
 */
export async function readGitDirectory(dotGit: string): Promise<GitDirectory | null> {
  try {
    const folder = await folderOf(toBytePath(dotGit));
    return folder === null ? null : await readFolder(folder);
  } catch (cause) {
    if (cause instanceof BatonError && cause.code !== 'internal_error') throw cause;
    throw notUnderstood(`Failed to read the git directory ${shown(toBytePath(dotGit))}: ${reasonOf(cause)}`, cause);
  }
}

async function folderOf(dotGit: BytePath): Promise<BytePath | null> {
  const found = await lstatOrNull(fromBytePath(dotGit));
  if (found === null) return null;
  if (found.isDirectory()) return dotGit;
  if (found.isSymbolicLink()) throw notUnderstood(`${shown(dotGit)} is a symbolic link.`);
  const text = withoutLineEnd((await textIn(dotGit)) ?? '');
  const named = text.startsWith('gitdir: ') ? text.slice('gitdir: '.length) : '';
  if (named === '' || named.includes('\0')) throw notUnderstood(`${shown(dotGit)} names no git directory.`);
  const folder = path.posix.resolve(path.posix.dirname(dotGit), named);
  if (!(await isFolder(folder))) throw notUnderstood(`${shown(dotGit)} names ${shown(folder)}, which does not exist.`);
  return folder;
}

async function readFolder(folder: BytePath): Promise<GitDirectory> {
  const common = await commonOf(folder);
  const objectFormat = readGitFormat((await textIn(`${common}/config`, mostConfigBytes)) ?? '');
  const headText = await textIn(`${folder}/HEAD`);
  if (headText === null || !(await isFolder(`${common}/refs`)))
    throw notUnderstood(`${shown(folder)} is not a git directory.`);
  const budget = { left: mostReferences };
  const [references, objects, stash, heads, worktreeHeads, past, shallow] = await Promise.all([
    readReferences({ folder, common }, budget),
    readObjectDirectories(`${common}/objects`),
    readStash(common),
    readHeads(folder),
    folder === common ? readWorktreeHeads(common, budget) : [],
    readPast(folder),
    readShallow(common),
  ]);
  const head = parseReference(headText, 'HEAD');
  const directory: GitDirectory = {
    folder: pathText(folder),
    common: pathText(common),
    objectFormat,
    objects: objects.map(pathText),
    headReference: 'to' in head ? nameText(head.to) : null,
    head: 'id' in head ? head.id : resolveReference(references, head.to),
    tips: [...tipsOf(references), ...stash, ...heads, ...worktreeHeads],
    past,
    shallow,
  };
  checkIds(directory);
  return directory;
}

async function commonOf(folder: BytePath): Promise<BytePath> {
  const text = await textIn(`${folder}/commondir`);
  if (text === null) return folder;
  const named = withoutLineEnd(text);
  if (named === '' || named.includes('\0')) throw notUnderstood(`${shown(folder)} has a broken commondir.`);
  const common = path.posix.resolve(folder, named);
  if (await isFolder(common)) return common;
  throw notUnderstood(`${shown(folder)} belongs to ${shown(common)}, which does not exist.`);
}

function tipsOf(references: References): readonly Tip[] {
  const tips: Tip[] = [];
  for (const name of [...references.keys()].sort()) {
    const id = resolveReference(references, name);
    if (id !== null && !isNoId(id)) tips.push({ name: nameText(name), id });
  }
  return tips;
}

async function readShallow(common: BytePath): Promise<readonly string[]> {
  const lines = ((await textIn(`${common}/shallow`, mostListBytes)) ?? '').split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const id = idIn(line);
    if (id === null) throw notUnderstood('The list of shallow commits is broken.');
    return id;
  });
}

/** Ids of another length than the configured format mean that either the ids or the configuration are wrong. */
function checkIds({ objectFormat, head, tips, past, shallow }: GitDirectory): void {
  const length = objectFormat === 'sha1' ? 40 : 64;
  for (const id of [...(head === null ? [] : [head]), ...tips.map((tip) => tip.id), ...past, ...shallow]) {
    if (id.length !== length) throw notUnderstood(`It contains ${id}, which is not a ${objectFormat} object id.`);
  }
}

/**
 * The only value that Baton reads from a configuration an agent may have written: how objects are named. Nothing else
 * in it has an effect. References that are not kept in files cannot be read by hand, so such a repository is refused.
 */
function readGitFormat(config: string): ObjectFormat {
  const extensions = valuesOf('extensions', config);
  const storage = extensions.get('refstorage') ?? 'files';
  if (storage !== 'files')
    throw notUnderstood(`Its references are stored as ${shown(storage)}, which Baton does not support.`);
  const format = extensions.get('objectformat') ?? 'sha1';
  if (format === 'sha1' || format === 'sha256') return format;
  throw notUnderstood(`Its objects have the unknown format ${shown(format)}.`);
}

/** The last value of each key of a section without a subsection, names in lower case. */
function valuesOf(wanted: string, config: BytePath): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let section = '';
  for (const line of config.replaceAll('\r\n', '\n').replaceAll(/\\\n/g, '').split('\n')) {
    const heading = /^\s*\[([^\]"]*)("(?:[^"\\]|\\.)*")?\]/.exec(line);
    if (heading !== null) section = heading[2] === undefined ? (heading[1] ?? '').trim().toLowerCase() : '';
    const pair = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*=(.*)$/.exec(heading === null ? line : line.slice(heading[0].length));
    if (pair === null || section !== wanted) continue;
    const [, key = '', value = ''] = pair;
    values.set(
      key.toLowerCase(),
      value
        .replace(/[#;].*$/, '')
        .replaceAll('"', '')
        .trim()
        .toLowerCase(),
    );
  }
  return values;
}
