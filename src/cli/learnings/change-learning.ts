import type { Surroundings } from '../../daemon/surroundings.ts';
import { type CommandFlags, submitCommand } from '../control/submit-command.ts';

/** `baton learnings add TEXT`. */
export function addLearning(
  words: readonly string[],
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<number> {
  return submitCommand({ kind: 'learning_add', text: words.join(' ') }, flags, surroundings);
}

/** `baton learnings edit LEARNING TEXT`. */
export function editLearning(
  learning: string,
  words: readonly string[],
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<number> {
  return submitCommand({ kind: 'learning_edit', learning, text: words.join(' ') }, flags, surroundings);
}

/** `baton learnings veto LEARNING`, `baton learnings restore LEARNING`. */
export function decideLearning(
  kind: 'learning_veto' | 'learning_restore',
  learning: string,
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<number> {
  return submitCommand({ kind, learning }, flags, surroundings);
}
