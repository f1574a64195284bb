import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import { mostIntakeChars } from '../../core/task/task.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { readStdin } from '../issue/read-stdin.ts';

/** A character has at most three bytes for each of its units. */
const mostBytes = mostIntakeChars * 3;

/** The text of a file, or of standard input for `-`. */
export async function readTextFile(file: string, surroundings: Surroundings): Promise<string> {
  const place = path.resolve(surroundings.cwd, file);
  const bytes = file === '-' ? await readStdin(surroundings, mostBytes) : await readSmall(place);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new BatonError('usage_error', `${file === '-' ? 'Standard input' : place} is not text in UTF-8.`, { cause });
  }
}

async function readSmall(place: string): Promise<Buffer> {
  const unreadable = (cause: unknown): BatonError =>
    new BatonError('usage_error', `The file ${place} cannot be read.`, {
      cause,
      nextStep: 'Check the path and that you may read it.',
    });
  const { size } = await stat(place).catch((cause: unknown) => Promise.reject(unreadable(cause)));
  if (size > mostBytes)
    throw new BatonError('usage_error', `The file ${place} has more than ${mostBytes} bytes.`, {
      nextStep: 'Split it, and send the parts one after the other.',
    });
  return readFile(place).catch((cause: unknown) => Promise.reject(unreadable(cause)));
}
