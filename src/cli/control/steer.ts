import { BatonError } from '../../core/baton-error.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { openWorkplace } from '../../daemon/workplace.ts';
import { exitCodes } from '../exit-codes.ts';
import { textOrStdin } from '../issue/read-stdin.ts';
import { jsonLine } from '../json-line.ts';
import { type CommandFlags, presentCommand, sendCommand } from './submit-command.ts';

/** More than this is no word in passing: it belongs into the ticket or a file. */
const mostBytes = 100 * 1024;

/**
 * `baton steer ISSUE TEXT…`: says something to the agent in the middle of its run; `-` reads it from stdin. Only an agent
 * at work can hear it, so without a daemon nothing is written: it would wait for nobody.
 */
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
  await using workplace = await openWorkplace(flags, surroundings);
  if (!(await workplace.wake()))
    throw new BatonError('command_refused', 'No daemon answers, so no agent is at work that could be told.', {
      nextStep: 'Start one with `baton start`, or say it in a comment on the ticket: that reaches the next agent.',
      details: { code: 'no_daemon' },
    });
  const command = { kind: 'issue_steer', payload: { issue, text } } as const;
  const told = presentCommand(await sendCommand(workplace, command, flags, surroundings));
  surroundings.stdout.write(flags.json ? jsonLine({ command: told }) : `${told.text}\n`);
  return exitCodes.ok;
}
