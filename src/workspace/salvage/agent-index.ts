import { createHash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { lstatOrNull, reasonOf } from '../file-system.ts';
import type { Git, GitCall } from '../git/git.ts';
import type { GitDirectory } from '../git/read/git-directory.ts';
import { type IndexEntry, readIndex } from '../git/read/read-index.ts';
import { type ObjectFormat, setShadow, through } from '../git/shadow/shadow-git.ts';
import { readPlainFile } from '../read-small-file.ts';
import { type BytePath, fromBytePath, toBytePath } from '../walk-folders.ts';
import { isPlainPath, joined, kindAt } from './path-in-tree.ts';
import { unsaved } from './salvage-errors.ts';

/** The content of the agent's own index. It is only a hint: files that it leaves out or hides are examined anyway. */
export interface AgentIndex {
  /** The tree that it stages, without files in conflict. */
  readonly tree: string;
  /** Its entries for files in conflict (the common one, ours and theirs), as `git ls-files -s` has them. */
  readonly conflicts: readonly BytePath[];
  /** Files in it that the rules about ignored files would leave out. */
  readonly forced: readonly BytePath[];
  /** Files that a sparse checkout left out: their absence is not a deletion. */
  readonly leftOut: readonly BytePath[];
}

export interface IndexPlace {
  readonly directory: GitDirectory;
  readonly workTree: string;
  readonly scratch: string;
  /** Where new objects go, and which other objects are read. */
  readonly store: Pick<GitCall, 'objects' | 'borrowed' | 'settings' | 'signal'>;
}

const mostIndexBytes = 1024 * 1024 * 1024;
const mostListBytes = 256 * 1024 * 1024;

/** The parts of a split index are files of their own; git makes no index with more parts than this. */
const mostParts = 50;

/** The mode of an entry that stands for a whole folder. */
const folderMode = 0o040000;

/**
 * Lets git read a copy of the agent's index through a shadow git directory. Null when there is none. Rejects for an
 * unreadable one: only the index knows the staged files, and the ignored files that were added all the same.
 */
export async function readAgentIndex(git: Git, place: IndexPlace): Promise<AgentIndex | null> {
  const { directory, workTree, scratch, store } = place;
  const { folder, objectFormat, head } = directory;
  if ((await lstatOrNull(path.join(folder, 'index'))) === null) return null;
  const shadow = await setShadow({ folder: path.join(scratch, 'agent-index'), head, objectFormat });
  const parts = (await readdir(folder)).filter((name) => /^sharedindex\.[0-9a-f]+$/.test(name));
  if (parts.length > mostParts) throw unread('it has too many parts');
  let isPlain = true;
  for (const name of ['index', ...parts]) {
    const { bytes, entries } = await readWhole(path.join(folder, name), objectFormat);
    if (entries.some(({ stage, isSkipped }) => stage > 0 || isSkipped)) isPlain = false;
    await writeFile(path.join(shadow.folder, name), bytes);
  }

  const call = { ...through(shadow, workTree), ...store, maxOutputBytes: mostListBytes };
  const run = async (args: readonly string[], stdin?: Uint8Array): Promise<string> => {
    const { code, stdout, stderr } = await git.ask({ ...call, args, stdin });
    if (code === 0) return stdout;
    throw unread(reasonOf(stderr.trim()) || `git ${args[0]} failed`);
  };
  const forced = namesIn(await run(['ls-files', '-z', '-c', '-i', '--exclude-standard'])).filter(isPlainPath);
  const entries = isPlain ? [] : namesIn(await run(['ls-files', '-z', '-t', '-s']));
  const marked = (mark: string): string[] =>
    entries.flatMap((line) => (line.startsWith(`${mark} `) ? [line.slice(2)] : []));
  const conflicts = marked('M');
  if (conflicts.length > 0)
    await run(['update-index', '--force-remove', '-z', '--stdin'], fromBytePath(joined(conflicts.map(pathIn))));
  const tree = (await run(['write-tree'])).trim();
  return { tree, conflicts, forced, leftOut: await absentOf(marked('S').map(pathIn), workTree) };
}

/**
 * The bytes of an index. Rejects for a torn file, and for one that is unsafe for git: an entry for a whole folder names
 * a tree, which git would read into memory, and an agent can name one of a few hundred bytes and ten thousand million
 * files.
 */
async function readWhole(
  file: string,
  objectFormat: ObjectFormat,
): Promise<{ readonly bytes: Buffer; readonly entries: readonly IndexEntry[] }> {
  try {
    const bytes = (await readPlainFile(toBytePath(file), mostIndexBytes)) ?? Buffer.alloc(0);
    if (!isWhole(bytes, objectFormat)) throw new RangeError('its checksum does not fit');
    const entries = readIndex(bytes, objectFormat);
    if (!entries.some(({ mode }) => mode === folderMode)) return { bytes, entries };
  } catch (error) {
    throw unread(reasonOf(error), error);
  }
  throw unsaved(
    'sparse_index',
    'its git index is sparse; run `git sparse-checkout reapply --no-sparse-index` in the workspace',
  );
}

/** Git itself does not check: it would read the rest of a torn file. With checksums switched off, git writes zeros. */
function isWhole(bytes: Buffer, objectFormat: ObjectFormat): boolean {
  const end = bytes.length - (objectFormat === 'sha1' ? 20 : 32);
  if (end < 0) return false;
  const sum = bytes.subarray(end);
  return (
    sum.every((byte) => byte === 0) || createHash(objectFormat).update(bytes.subarray(0, end)).digest().equals(sum)
  );
}

async function absentOf(names: readonly BytePath[], workTree: string): Promise<BytePath[]> {
  const root = toBytePath(workTree);
  const absent: BytePath[] = [];
  for (const name of names.filter(isPlainPath)) if ((await kindAt(root, name)) === 'nothing') absent.push(name);
  return absent;
}

function namesIn(list: string): BytePath[] {
  return list.split('\0').filter((name) => name !== '');
}

function pathIn(entry: string): BytePath {
  return entry.slice(entry.indexOf('\t') + 1);
}

function unread(reason: string, cause?: unknown): Error {
  return unsaved('index_unreadable', `Baton cannot read its git index: ${reason.replace(/\.$/, '')}`, cause);
}
