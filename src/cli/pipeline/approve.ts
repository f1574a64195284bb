import type { Surroundings } from '../../daemon/surroundings.ts';
import { type CommandFlags, submitCommand } from '../control/submit-command.ts';
import { textOrStdin } from '../issue/read-stdin.ts';

/** The most that is read from stdin; the length of words has its own limit. */
export const mostWordsBytes = 1024 * 1024;

/** `baton pipeline approve`: in the place of a judge, with words for the next agent. */
export async function approvePhase(
  issue: string,
  words: readonly string[],
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<number> {
  const note = words.length === 0 ? '' : await textOrStdin(words.join(' '), surroundings, mostWordsBytes);
  const said = note.trim() === '' ? {} : { note };
  return submitCommand({ kind: 'phase_approve', issue, ...said }, flags, surroundings);
}
