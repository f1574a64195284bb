import { BatonError } from '../../core/baton-error.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { exitCodes } from '../exit-codes.ts';
import { textOrStdin } from '../issue/read-stdin.ts';
import { jsonLine } from '../json-line.ts';
import { type CommandFlags, connectAs, sendCommand } from './submit-command.ts';

/** A longer text is not a message: it belongs in the issue or in a file. */
const mostBytes = 100_000;

/**
 * `baton steer ISSUE TEXT…`: sends a message to the agent during its run; `-` reads it from stdin. Only a working agent
 * can receive it, so without a daemon nothing is stored.
 */
export async function steer(
  issue: string,
  words: readonly string[],
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<number> {
  const text = (await textOrStdin(words.join(' '), surroundings, mostBytes)).trim();
  if (text === '') throw new BatonError('usage_error', 'The message to the agent is empty.');
  if (Buffer.byteLength(text) > mostBytes)
    throw new BatonError('usage_error', `The message is longer than ${mostBytes} bytes.`);
  await using connection = await connectAs(flags, surroundings);
  if (!connection.isDaemon())
    throw new BatonError(
      'command_refused',
      'No daemon is running, so no agent is working that could receive the message.',
      {
        nextStep: 'Start a daemon with `baton start`, or write a comment on the issue, which the next agent can read.',
        details: { code: 'no_daemon' },
      },
    );
  const command = await sendCommand(connection, { kind: 'issue_steer', issue, text }, flags, surroundings);
  surroundings.stdout.write(flags.json ? jsonLine({ command }) : `${command.text}\n`);
  return exitCodes.ok;
}
