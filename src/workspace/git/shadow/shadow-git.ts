import { copyFile, mkdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { GitCall } from '../git.ts';

/**
 * A shadow git directory: one that only Baton writes, for files that an agent may have changed, with its own
 * configuration, its own index and its own rules about content. What must hold:
 *
 * - Nothing that the agent wrote except the files themselves has an effect: no configuration, no filter, no driver, no
 *   excludes but `.gitignore`, no conversion of line ends or encodings. Files are saved byte by byte.
 * - Its index is not the agent's: flags that hide changes (`assume-unchanged`, `skip-worktree`) are not in it. A file
 *   counts as unchanged only by the facts of the kernel about it.
 */
export interface ShadowGit {
  readonly folder: string;
  readonly indexFile: string;
}

export interface ShadowStart {
  readonly folder: string;
  /** The commit that the agent's HEAD names; null before the first commit. */
  readonly head: string | null;
  readonly objectFormat: ObjectFormat;
  /** Patterns of files that never belong to the work, such as those that `workspace.copy` copied. */
  readonly excludes?: readonly string[];
  /** An index to start with, so that unchanged files need not be read again; it must be Baton's own. */
  readonly index?: string;
  /** Commits whose parents the agent's repository never had. */
  readonly shallow?: readonly string[];
}

export type ObjectFormat = 'sha1' | 'sha256';

/** No conversion in either direction, even if `.gitattributes` in the tree asks for one. */
const rawAttributes = '* -text -eol -ident -filter -working-tree-encoding -diff -merge\n';

/** Makes a shadow git directory, or sets a new HEAD in an existing one; its index stays. */
export async function setShadow(start: ShadowStart): Promise<ShadowGit> {
  const { folder, head, objectFormat, excludes = [], index, shallow = [] } = start;
  const indexFile = path.join(folder, 'index');
  const at = (name: string): string => path.join(folder, name);
  const listed = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
  await Promise.all(['info', 'refs', 'objects'].map((name) => mkdir(at(name), { recursive: true })));
  await Promise.all([
    writeFile(at('HEAD'), head === null ? 'ref: refs/heads/unborn\n' : `${head}\n`),
    writeFile(at('config'), plainConfig(objectFormat)),
    writeFile(at('info/attributes'), rawAttributes),
    writeFile(at('info/exclude'), listed(excludes)),
    shallow.length === 0 ? rm(at('shallow'), { force: true }) : writeFile(at('shallow'), listed(shallow)),
    // The process that held the lock is dead: only Baton uses a shadow.
    rm(`${indexFile}.lock`, { force: true }),
  ]);
  if (index !== undefined) await copyIndex(index, indexFile);
  return { folder, indexFile };
}

/**
 * Copies an index with its time. From that time git knows which files may have changed in the second in which it read
 * them, and reads those again; a newer time would hide such a change.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  const { mtimeMs } = await stat(from);
  await copyFile(from, to);
  const second = Math.floor(mtimeMs / 1000);
  await utimes(to, second, second);
}

/** The settings of every call through a shadow. */
export function through(shadow: ShadowGit, workTree: string): Pick<GitCall, 'gitDir' | 'workTree' | 'indexFile'> {
  return { gitDir: shadow.folder, workTree, indexFile: shadow.indexFile };
}

/** The configuration of a git directory with a work tree, and nothing else in it. */
export function plainConfig(objectFormat: ObjectFormat): string {
  const version = objectFormat === 'sha1' ? 0 : 1;
  const core = `[core]\n\trepositoryformatversion = ${version}\n\tfilemode = true\n\tbare = false\n`;
  return objectFormat === 'sha1' ? core : `${core}[extensions]\n\tobjectFormat = ${objectFormat}\n`;
}
