import { BatonError } from '../../core/baton-error.ts';
import { copyable } from '../../core/command/retry-command.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { type CommandFlags, submitCommand } from '../control/submit-command.ts';
import { textOrStdin } from '../issue/read-stdin.ts';
import { mostWordsBytes } from './approve.ts';

/** `baton pipeline reject`: the words reach the agent as those of a judge. */
export async function rejectPhase(
  issue: string,
  words: readonly string[],
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<number> {
  const note = await textOrStdin(words.join(' '), surroundings, mostWordsBytes);
  if (note.trim() === '')
    throw new BatonError('command_refused', 'Say what has to change.', {
      nextStep: `Run \`baton pipeline reject ${copyable(issue)} "what has to change"\`.`,
      details: { code: 'nothing_to_say' },
    });
  return submitCommand({ kind: 'phase_reject', issue, note }, flags, surroundings);
}
