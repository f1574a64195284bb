import { BatonError } from '../../core/baton-error.ts';
import { textOrStdin } from '../issue/read-stdin.ts';
import type { Surroundings } from '../surroundings.ts';
import { type CommandFlags, submitCommand } from './submit-command.ts';

/** More than this is no word in passing: it belongs into the ticket or a file. */
const mostBytes = 100 * 1024;

/** `baton steer ISSUE TEXT…`: says something to the agent in the middle of its run; `-` reads it from stdin. */
export async function steer(
  issue: string,
  words: readonly string[],
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<number> {
  const text = (await textOrStdin(words.join(' '), surroundings, mostBytes)).trim();
  if (text === '') throw new BatonError('usage_error', 'There is nothing to say to the agent.');
  if (Buffer.byteLength(text) > mostBytes)
    throw new BatonError('usage_error', `The text is longer than ${mostBytes} bytes.`);
  return submitCommand('issue_steer', { issue, text }, flags, surroundings);
}
