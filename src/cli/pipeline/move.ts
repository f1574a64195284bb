import type { Surroundings } from '../../daemon/surroundings.ts';
import { type CommandFlags, submitCommand } from '../control/submit-command.ts';

/** `baton pipeline move`. */
export function movePhase(
  issue: string,
  phase: string,
  note: string | undefined,
  flags: CommandFlags,
  surroundings: Surroundings,
): Promise<number> {
  const words = note === undefined ? {} : { note };
  return submitCommand({ kind: 'phase_move', issue, phase, ...words }, flags, surroundings);
}
