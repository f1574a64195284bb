import { constants } from 'node:fs';
import { chmod, copyFile, glob, lstat, mkdir, opendir, readlink, realpath, symlink } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../../core/baton-error.ts';
import type { Logger } from '../../../core/logger.ts';
import { hasCode, lstatOrNull, reasonOf } from '../../file-system.ts';
import { type BytePath, fromBytePath, toBytePath } from '../../walk-folders.ts';
import type { Git } from '../git.ts';
import { through } from '../shadow/shadow-git.ts';

/**
 * Copies files that git does not know (`workspace.copy`), such as `.env`. What must hold:
 *
 * - Nothing from outside of the folder is copied: neither by `..` nor behind a link. A link is copied as a link, if it
 *   stays inside; one to a target outside is refused.
 * - No file of the checkout is overwritten, and nothing is written through a link in it.
 * - No git directory and no file of Baton is copied: other workspaces may be below the same folder.
 */
export interface CopyRequest {
  /** Globs, relative to `from`. */
  readonly patterns: readonly string[];
  readonly from: string;
  readonly to: string;
  /** Folders from which nothing is copied, absolute. */
  readonly never: readonly string[];
  readonly logger: Logger;
  readonly signal?: AbortSignal;
}

/** Relative paths, one character per byte. */
export interface Copied {
  /** Files and links that a pattern matched directly. */
  readonly files: readonly BytePath[];
  /** Folders that a pattern matched; the files copied with them are below. */
  readonly folders: readonly BytePath[];
}

export async function copyFiles(request: CopyRequest): Promise<Copied> {
  const { patterns, from } = request;
  if (patterns.length === 0) return { files: [], folders: [] };
  try {
    const source = await realpath(from);
    const kept = [...request.never, request.to].map((folder) => realpath(folder).catch(() => folder));
    const never = await Promise.all(kept);
    // A `never` folder that contains the whole source must not stop the copy.
    const copier = { ...request, from: source, never: never.filter((folder) => folder.startsWith(`${source}/`)) };
    const files = new Set<BytePath>();
    const folders = new Set<BytePath>();
    for (const match of await matchesOf(copier)) {
      const kind = await copyEntry(toBytePath(match), copier);
      if (kind === 'folder') folders.add(toBytePath(match));
      if (kind === 'file') files.add(toBytePath(match));
    }
    return { files: [...files], folders: [...folders] };
  } catch (error) {
    request.signal?.throwIfAborted();
    if (error instanceof BatonError) throw error;
    throw new BatonError('workspace_copy_failed', `Failed to copy the files of workspace.copy: ${reasonOf(error)}.`, {
      cause: error,
    });
  }
}

async function matchesOf({ patterns, from, logger, signal }: CopyRequest): Promise<Set<string>> {
  const matches = new Set<string>();
  for (const pattern of patterns) {
    let found = 0;
    for await (const match of glob(pattern, { cwd: from })) {
      signal?.throwIfAborted();
      const inside = path.normalize(match).replace(/\/+$/, '');
      if (path.isAbsolute(inside) || inside.split('/').includes('..'))
        throw refused(match, 'it is outside of the source folder');
      found += 1;
      if (await isBehindLink(inside, from)) {
        logger.warn('copy_behind_link', { file: match, pattern });
      } else matches.add(inside);
    }
    if (found === 0) logger.warn('copy_matches_nothing', { pattern, folder: from });
  }
  return matches;
}

async function isBehindLink(inside: string, from: string): Promise<boolean> {
  const parent = path.dirname(path.join(from, inside));
  return (await realpath(parent)) !== parent;
}

async function copyEntry(inside: BytePath, request: CopyRequest): Promise<'file' | 'folder' | null> {
  request.signal?.throwIfAborted();
  const { from, to, never, logger } = request;
  const source = fromBytePath(`${toBytePath(from)}/${inside}`);
  if (isGitDirectory(inside) || isIn(source.toString('utf8'), never)) return null;
  const found = await lstat(source);
  const target = fromBytePath(`${toBytePath(to)}/${inside}`);
  if (inside !== '.' && !(await makeParents(inside, request))) return null;
  if (found.isDirectory()) return await copyFolder(inside, found.mode, request);
  if ((await lstatOrNull(target)) !== null) return null;
  if (found.isSymbolicLink()) await copyLink(inside, source, target, request);
  else if (found.isFile()) await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  else {
    logger.warn('copy_odd_file', {
      file: inside,
    });
    return null;
  }
  return 'file';
}

async function copyFolder(inside: BytePath, mode: number, request: CopyRequest): Promise<'folder' | null> {
  const target = fromBytePath(`${toBytePath(request.to)}/${inside}`);
  const isNew = await makeFolder(target);
  if (isNew === null) return null;
  const source = fromBytePath(`${toBytePath(request.from)}/${inside}`);
  for await (const entry of await opendir(source, { encoding: 'latin1' })) {
    await copyEntry(inside === '.' ? entry.name : `${inside}/${entry.name}`, request);
  }
  // Last, because a write-protected folder could not be filled.
  if (isNew) await chmod(target, mode & 0o7777);
  return 'folder';
}

/** Whether the folder was created; null when something else has its name. */
async function makeFolder(target: Buffer): Promise<boolean | null> {
  const found = await lstatOrNull(target);
  if (found !== null) return found.isDirectory() ? false : null;
  await mkdir(target);
  return true;
}

/** False when the checkout has something else with their names: a link there may lead anywhere. */
async function makeParents(inside: BytePath, { to }: CopyRequest): Promise<boolean> {
  let folder = toBytePath(to);
  for (const step of inside.split('/').slice(0, -1)) {
    folder = `${folder}/${step}`;
    if ((await makeFolder(fromBytePath(folder))) === null) return false;
  }
  return true;
}

async function copyLink(inside: BytePath, source: Buffer, target: Buffer, { from }: CopyRequest): Promise<void> {
  const leadsTo = await readlink(source, { encoding: 'buffer' });
  const text = leadsTo.toString('latin1');
  const end = path.posix.normalize(`${path.posix.dirname(inside)}/${text}`);
  const staysInside = !text.startsWith('/') && end !== '..' && !end.startsWith('../');
  if (!staysInside || !(await endsInside(source, from)))
    throw refused(inside, 'it is a link to a target outside of the source folder');
  await symlink(leadsTo, target);
}

/** Other links on the way may lead outside too. */
async function endsInside(source: Buffer, from: string): Promise<boolean> {
  try {
    const end = await realpath(source, { encoding: 'utf8' });
    return end === from || end.startsWith(`${from}/`);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return true;
    throw error;
  }
}

function isGitDirectory(inside: BytePath): boolean {
  return inside.split('/').some((step) => step.toLowerCase() === '.git');
}

function isIn(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => file === folder || file.startsWith(`${folder}/`));
}

function refused(file: string, reason: string): BatonError {
  return new BatonError('workspace_copy_failed', `workspace.copy cannot copy ${JSON.stringify(file)}: ${reason}.`);
}

export interface ExcludeParts {
  readonly git: Git;
  readonly shadow: string;
  readonly workspace: string;
  readonly objects: readonly string[];
}

/**
 * Exclude patterns for the copied files, one per file: a file that an agent adds to a copied folder is work, and so is
 * a folder that it makes with the name of a copied file. In a copied folder only files that are not ignored anyway get a
 * pattern, because there may be a hundred thousand.
 */
export async function excludesOf({ files, folders }: Copied, parts: ExcludeParts): Promise<readonly string[]> {
  const { git, shadow, workspace, objects } = parts;
  const names = new Set(files);
  if (folders.length > 0) {
    const listed = await git.run({
      args: ['--literal-pathspecs', 'ls-files', '-z', '--others', '--exclude-standard', '--', ...folders.map(asText)],
      ...through({ folder: shadow, indexFile: `${shadow}/index` }, workspace),
      borrowed: objects,
    });
    for (const name of listed.split('\0')) if (name !== '') names.add(name);
  }
  return [...names].map(asText).filter(isOneLine).flatMap(excludePatterns);
}

/** Matches only this file, from the root of the workspace. The second pattern exempts a folder of the same name. */
function excludePatterns(name: string): readonly string[] {
  const escaped = name.replaceAll(/[\\*?[\]#!]/g, '\\$&').replace(/ +$/, (spaces) => '\\ '.repeat(spaces.length));
  return [`/${escaped}`, `!/${escaped}/`];
}

/**
 * A name with a newline would be two patterns, and a name that is not text would match another; they get no pattern.
 */
function isOneLine(name: string): boolean {
  return !/[\p{Cc}\uFFFD]/u.test(name);
}

function asText(name: BytePath): string {
  return fromBytePath(name).toString('utf8');
}
