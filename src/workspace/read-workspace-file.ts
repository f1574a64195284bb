import { constants } from 'node:fs';
import { open, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { TakenArtifact } from '../core/pipeline/completion.ts';
import { hasCode } from './file-system.ts';

/** Neither follows a link at the end of the path nor waits at a pipe. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The text of a file inside a workspace. An agent may change folders into links while Baton reads, so what counts is the
 * file that was opened: it must be a plain file inside the workspace.
 */
export async function readWorkspaceFile(
  workspace: string,
  relative: string,
  mostBytes: number,
): Promise<TakenArtifact> {
  const wanted = path.resolve(workspace, relative);
  if (path.relative(workspace, wanted).split(path.sep)[0] === '..') return { why: 'it is outside of the workspace' };
  try {
    await using file = await open(wanted, flags);
    const real = await readlink(`/proc/self/fd/${file.fd}`).catch(() => realpath(wanted));
    if (!real.startsWith(`${await realpath(workspace)}${path.sep}`)) return { why: 'it is outside of the workspace' };
    const facts = await file.stat();
    if (!facts.isFile()) return { why: 'it is not a plain file' };
    if (facts.nlink > 1) return { why: 'it has a second hard link, which may be outside of the workspace' };
    if (facts.size > mostBytes) return { bytes: facts.size };
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(mostBytes + 1), position: 0 });
    if (bytesRead > mostBytes) return { bytes: bytesRead };
    const text = new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead));
    return text.includes('\0') ? { why: 'it is not text' } : { text };
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return { why: 'it does not exist' };
    if (hasCode(error, 'ELOOP')) return { why: 'it is a link' };
    if (error instanceof TypeError) return { why: 'it is not text in UTF-8' };
    return { why: error instanceof Error ? error.message : 'it cannot be read' };
  }
}
