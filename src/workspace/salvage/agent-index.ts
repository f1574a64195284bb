import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { type BytePath, toBytePath } from '../folders-of.ts';
import type { Git, GitCall } from '../git/git.ts';
import type { GitDirectory } from '../git/git-directory.ts';
import { setLens, through } from '../git/lens.ts';
import { copyPlainFile } from './durable.ts';
import { isPlainPath, kindAt } from './path-in-tree.ts';

/** What the agent's own index says. It is only a hint: what it leaves out or hides is looked at anyway. */
export interface AgentIndex {
  /** The tree that it stages; null when it stages none, as in the middle of a merge. */
  readonly tree: string | null;
  /** Files in it that the rules about ignored files would leave out. */
  readonly forced: readonly BytePath[];
  /** Files that a sparse checkout left out: their absence is no deletion. */
  readonly leftOut: readonly BytePath[];
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

/** Reads a copy of the agent's index through a lens of its own. Null when there is none, or none that can be read. */
export async function readAgentIndex(git: Git, place: IndexPlace): Promise<AgentIndex | null> {
  const { directory, workTree, scratch, store } = place;
  const { objectFormat, head } = directory;
  const lens = await setLens({ folder: path.join(scratch, 'agent-index'), head, objectFormat });
  if (!(await copyPlainFile(path.join(directory.folder, 'index'), lens.indexFile, mostIndexBytes))) return null;
  await copyParts(directory.folder, lens.folder);
  const call = { ...through(lens, workTree), ...store, maxOutputBytes: mostListBytes };
  const listed = await git.ask({ ...call, args: ['ls-files', '-z', '-c', '-i', '--exclude-standard'] });
  if (listed.code !== 0) return null;
  const written = await git.ask({ ...call, args: ['write-tree'] });
  return {
    tree: written.code === 0 ? written.stdout.trim() : null,
    forced: listed.stdout.split('\0').filter((name) => name !== '' && isPlainPath(name)),
    leftOut: await leftOut(git, call, lens.indexFile),
  };
}

async function copyParts(from: string, to: string): Promise<void> {
  const parts = (await readdir(from)).filter((name) => /^sharedindex\.[0-9a-f]+$/.test(name));
  if (parts.length > mostParts) return;
  for (const part of parts) await copyPlainFile(path.join(from, part), path.join(to, part), mostIndexBytes);
}

async function leftOut(git: Git, call: Omit<GitCall, 'args'>, indexFile: string): Promise<BytePath[]> {
  if ((await versionOf(indexFile)) < versionWithFlags) return [];
  const { code, stdout } = await git.ask({ ...call, args: ['ls-files', '-z', '-t', '-c'] });
  if (code !== 0) return [];
  const flagged = stdout
    .split('\0')
    .filter((line) => line.startsWith('S '))
    .map((line) => line.slice(2))
    .filter(isPlainPath);
  const root = toBytePath(call.workTree ?? '');
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
