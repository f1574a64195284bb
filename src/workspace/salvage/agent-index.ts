import { createHash } from 'node:crypto';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { reasonOf } from '../error-reason.ts';
import { type BytePath, toBytePath } from '../folders-of.ts';
import type { Git, GitCall } from '../git/git.ts';
import type { GitDirectory } from '../git/git-directory.ts';
import { type Lens, type ObjectFormat, setLens, through } from '../git/lens.ts';
import { readIndex } from '../git/read-index.ts';
import { lookAt } from '../look-at.ts';
import { copyPlainFile } from './durable.ts';
import { unsaved } from './find-repositories.ts';
import { isPlainPath, kindAt } from './path-in-tree.ts';

/** What the agent's own index says. It is only a hint: what it leaves out or hides is looked at anyway. */
export interface AgentIndex {
  /** The tree that it stages, without files in conflict. */
  readonly tree: string;
  /** What it has of files in conflict: the common one, ours and theirs. */
  readonly conflicts: readonly Conflict[];
  /** Files in it that the rules about ignored files would leave out. */
  readonly forced: readonly BytePath[];
  /** Files that a sparse checkout left out: their absence is no deletion. */
  readonly leftOut: readonly BytePath[];
}

/** One stage of a file in conflict. */
export interface Conflict {
  readonly mode: string;
  readonly id: string;
  readonly stage: string;
  readonly path: BytePath;
}

export interface IndexPlace {
  readonly directory: GitDirectory;
  readonly workTree: string;
  /** A folder for this alone. */
  readonly scratch: string;
  /** Where new objects go, and what is read besides. */
  readonly store: Pick<GitCall, 'objects' | 'borrowed' | 'settings' | 'signal'>;
}

const mostIndexBytes = 1024 * 1024 * 1024;
const mostListBytes = 256 * 1024 * 1024;

/** The parts of a split index are files of their own; more than this is no index that git made. */
const mostParts = 50;

/** A flag that hides an absent file needs at least this version of the file format. */
const versionWithFlags = 3;

/** The mode of an entry that stands for a whole folder. */
const folderMode = 0o040000;

/**
 * Reads a copy of the agent's index through a lens of its own. Null when there is none. Rejects for one that cannot be
 * read: what was staged, and what was added although it is ignored, is known only there.
 */
export async function readAgentIndex(git: Git, place: IndexPlace): Promise<AgentIndex | null> {
  const { directory, workTree, scratch, store } = place;
  const { objectFormat, head } = directory;
  const index = path.join(directory.folder, 'index');
  if ((await lookAt(index)) === null) return null;
  const lens = await setLens({ folder: path.join(scratch, 'agent-index'), head, objectFormat });
  if (!(await copyPlainFile(index, lens.indexFile, mostIndexBytes))) throw unread('it is no plain file, or too large');
  const parts = await copyParts(directory.folder, lens.folder);
  for (const file of [lens.indexFile, ...parts]) await refuseStrange(file, objectFormat);

  const call = { ...through(lens, workTree), ...store, maxOutputBytes: mostListBytes };
  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await git.ask({ ...call, args });
    if (code === 0) return stdout;
    throw unread(reasonOf(stderr.trim()) || `git ${args[0]} failed`);
  };
  const listed = await run('ls-files', '-z', '-c', '-i', '--exclude-standard');
  const hidden = await leftOut(run, workTree, lens);
  const written = await git.ask({ ...call, args: ['write-tree'] });
  const conflicts = written.code === 0 ? [] : conflictsIn(await run('ls-files', '-z', '-u'));
  // Nothing but a conflict is a reason to have no tree.
  if (written.code !== 0 && conflicts.length === 0) throw unread(reasonOf(written.stderr.trim()));
  if (conflicts.length > 0) await dropConflicts(run, scratch, conflicts);
  return {
    tree: (written.code === 0 ? written.stdout : await run('write-tree')).trim(),
    conflicts,
    forced: listed.split('\0').filter((name) => name !== '' && isPlainPath(name)),
    leftOut: hidden,
  };
}

async function copyParts(from: string, to: string): Promise<string[]> {
  const parts = (await readdir(from)).filter((name) => /^sharedindex\.[0-9a-f]+$/.test(name));
  if (parts.length > mostParts) throw unread('it has too many parts');
  const copied: string[] = [];
  for (const part of parts) {
    const copy = path.join(to, part);
    if (!(await copyPlainFile(path.join(from, part), copy, mostIndexBytes))) throw unread(`${part} is no plain file`);
    copied.push(copy);
  }
  return copied;
}

/**
 * Rejects for a torn file, and for one that is not to be given to git: an entry for a whole folder names a tree, which
 * git would read into memory, and an agent can name one of a few hundred bytes and ten thousand million files.
 */
async function refuseStrange(file: string, objectFormat: ObjectFormat): Promise<void> {
  const bytes = await readFile(file);
  if (!isWhole(bytes, objectFormat)) throw unread('its checksum does not fit');
  let hasFolders: boolean;
  try {
    hasFolders = readIndex(bytes, objectFormat).some(({ mode }) => mode === folderMode);
  } catch (error) {
    throw unread(reasonOf(error), error);
  }
  if (hasFolders)
    throw unsaved(
      'sparse_index',
      'its index has entries for whole folders; `git sparse-checkout reapply --no-sparse-index` makes files of them',
    );
}

/** Git itself does not look: it would read the rest of a torn file. Where it is told to write no checksum there are zeros. */
function isWhole(bytes: Buffer, objectFormat: ObjectFormat): boolean {
  const end = bytes.length - (objectFormat === 'sha1' ? 20 : 32);
  if (end < 0) return false;
  const sum = bytes.subarray(end);
  return (
    sum.every((byte) => byte === 0) || createHash(objectFormat).update(bytes.subarray(0, end)).digest().equals(sum)
  );
}

type Run = (...args: string[]) => Promise<string>;

function conflictsIn(list: string): Conflict[] {
  return list
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const [mode = '', id = '', stage = ''] = line.slice(0, line.indexOf('\t')).split(' ');
      return { mode, id, stage, path: line.slice(line.indexOf('\t') + 1) };
    });
}

/** From the copy. Names go to git in a file: an argument would have to be text. */
async function dropConflicts(run: Run, scratch: string, conflicts: readonly Conflict[]): Promise<void> {
  const file = path.join(scratch, 'pathspec-conflicts');
  const names = [...new Set(conflicts.map((conflict) => `:(literal,top)${conflict.path}\0`))];
  await writeFile(file, Buffer.from(names.join(''), 'latin1'));
  await run('rm', '--cached', '-q', '-f', '--sparse', `--pathspec-from-file=${file}`, '--pathspec-file-nul');
}

async function leftOut(run: Run, workTree: string, { indexFile }: Lens): Promise<BytePath[]> {
  if ((await versionOf(indexFile)) < versionWithFlags) return [];
  const flagged = (await run('ls-files', '-z', '-t', '-c'))
    .split('\0')
    .filter((line) => line.startsWith('S '))
    .map((line) => line.slice(2))
    .filter(isPlainPath);
  const root = toBytePath(workTree);
  const absent: BytePath[] = [];
  for (const name of flagged) if ((await kindAt(root, name)) === 'nothing') absent.push(name);
  return absent;
}

async function versionOf(indexFile: string): Promise<number> {
  const handle = await open(indexFile, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(8), 0, 8, 0);
    return bytesRead === 8 ? buffer.readUInt32BE(4) : 0;
  } finally {
    await handle.close();
  }
}

function unread(reason: string, cause?: unknown): Error {
  return unsaved('index_unreadable', `its index cannot be read: ${reason.replace(/\.$/, '')}`, cause);
}
