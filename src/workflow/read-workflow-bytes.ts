import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { BatonError } from '../core/baton-error.ts';

/** More than any prompt needs, and small enough to read before each use. */
const largestFileBytes = 1024 * 1024;

interface Reason {
  readonly problem: string;
  readonly words: string;
  readonly nextStep?: string;
}

const isDirectory: Reason = { problem: 'directory', words: 'it is a directory, not a file' };
const isSpecial: Reason = { problem: 'not_a_regular_file', words: 'it is not a regular file' };

/** Causes that concern the path to the file; other causes keep their own message. */
const reasons: Readonly<Record<string, Reason>> = {
  ENOENT: { problem: 'not_found', words: 'the file does not exist' },
  ENOTDIR: { problem: 'not_found', words: 'a part of its path is not a directory' },
  EACCES: {
    problem: 'not_readable',
    words: 'you have no permission to read it',
    nextStep: 'Ask the owner of the file for permission to read it, or run Baton as a user who has it.',
  },
  EISDIR: isDirectory,
};

/**
 * Reads the bytes of the workflow file. It opens the file without blocking, so that a named pipe cannot hang the
 * daemon, and never reads more than a workflow file may hold.
 */
export function readWorkflowBytes(path: string): Buffer {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    if (stats.isDirectory()) throw unreadable(path, isDirectory);
    if (!stats.isFile()) throw unreadable(path, isSpecial);
    return readAtMost(descriptor, stats.size, path);
  } catch (thrown) {
    if (thrown instanceof BatonError) throw thrown;
    const { code, message } = thrown as NodeJS.ErrnoException; // node:fs throws nothing else
    throw unreadable(path, reasons[code ?? ''] ?? { problem: 'not_readable', words: message }, thrown);
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
    // The file grew during the read.
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

function unreadable(path: string, { problem, words, nextStep }: Reason, cause?: unknown): BatonError {
  return new BatonError('missing_workflow_file', `The file ${path} cannot be read: ${words}`, {
    cause,
    details: { path, problem },
    ...(nextStep === undefined ? {} : { nextStep }),
  });
}

/** Decodes the bytes of a workflow file; only UTF-8 without NUL is text. */
export function decodeText(bytes: Uint8Array, path: string): string {
  const nul = bytes.indexOf(0);
  if (nul >= 0) throw notText(path, 'nul_character', `byte ${nul + 1} is NUL, so it is a binary file or UTF-16`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw notText(path, 'not_utf8', 'it is not valid UTF-8', cause);
  }
}

function notText(path: string, problem: string, reason: string, cause?: unknown): BatonError {
  return new BatonError('workflow_parse_error', `${path} is not a text file: ${reason}`, {
    cause,
    details: { path, problem },
    nextStep: 'Save the file as UTF-8 text.',
  });
}
