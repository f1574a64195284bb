import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { BatonError } from '../core/baton-error.ts';

/** More than any prompt needs, little enough to be read before each use. */
const largestFileBytes = 1024 * 1024;

/** What is wrong with the way to the file, in words; other causes are named by their own message. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is not a directory',
  EACCES: 'it may not be read',
  EISDIR: 'it is a directory, not a file',
};

/**
 * The bytes of the workflow file. It is opened without waiting, so that a named pipe cannot hang the daemon, and never
 * more is read than a workflow file may hold.
 */
export function readWorkflowBytes(path: string): Buffer {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    if (stats.isDirectory()) throw unreadable(path, 'it is a directory, not a file');
    if (!stats.isFile()) throw unreadable(path, 'it is not a regular file');
    return readAtMost(descriptor, stats.size, path);
  } catch (thrown) {
    if (thrown instanceof BatonError) throw thrown;
    const { code, message } = thrown as NodeJS.ErrnoException; // node:fs throws nothing else
    throw unreadable(path, reasons[code ?? ''] ?? message, thrown);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function readAtMost(descriptor: number, size: number, path: string): Buffer {
  let buffer = Buffer.allocUnsafe(Math.min(size, largestFileBytes) + 1);
  let length = 0;
  for (let count = -1; count !== 0 && length < buffer.length; ) {
    count = readSync(descriptor, buffer, length, buffer.length - length, null);
    length += count;
    // It grew while it was read.
    if (length === buffer.length && length <= largestFileBytes)
      buffer = Buffer.concat([buffer], Math.min(length * 2, largestFileBytes + 1));
  }
  if (length > largestFileBytes) {
    throw new BatonError('workflow_too_large', `${path} is larger than 1 MiB, the most a workflow file may hold`, {
      details: { path, limit_bytes: largestFileBytes },
    });
  }
  return Buffer.from(buffer.subarray(0, length));
}

function unreadable(path: string, reason: string, cause?: unknown): BatonError {
  return new BatonError('missing_workflow_file', `The workflow file ${path} cannot be read: ${reason}`, {
    cause,
    details: { path },
  });
}
