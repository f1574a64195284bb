import { type Clock, within } from '../../../clock/clock.ts';
import type { LiveTurn } from '../../live-turn.ts';
import { type CodexConnection, CodexRefusal } from '../wire/connection.ts';

/** Delay before interrupting again a turn that Codex has accepted and not begun. */
const againMs = 100;

export interface Interruption {
  readonly connection: CodexConnection;
  readonly clock: Clock;
  readonly threadId: string | null;
  /** How long the turn has to end. */
  readonly waitMs: number;
}

/**
 * Interrupts a turn and waits for its end, up to a limit. Codex refuses to interrupt a turn that it has accepted and
 * not yet begun, and then begins it: so a refusal counts only once Codex reports the end of the turn.
 */
export async function interruptTurn(turn: LiveTurn, interruption: Interruption): Promise<void> {
  const { clock, waitMs } = interruption;
  const until = clock.monotonic() + waitMs;
  await within(
    clock,
    waitMs,
    end(turn, interruption, () => clock.monotonic() >= until),
  );
}

async function end(turn: LiveTurn, interruption: Interruption, isLate: () => boolean): Promise<void> {
  const { connection, clock, threadId, waitMs } = interruption;
  const turnId = await turn.begun;
  if (turnId === null || threadId === null) return;
  while (!turn.isOver && !isLate()) {
    try {
      await connection.request('turn/interrupt', { threadId, turnId }, waitMs);
      await turn.over;
    } catch (error) {
      if (!(error instanceof CodexRefusal)) return;
      await within(clock, againMs, turn.over);
    }
  }
}
