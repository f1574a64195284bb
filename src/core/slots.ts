import type { SkipReason } from './eligibility.ts';
import { type Issue, normalizeState } from './issue.ts';
import type { AgentSettings } from './settings.ts';

/** Whether one more issue in `state` may run beside those in `runningStates` (seed 2, Concurrency Control). */
export function whyNoSlot(state: string, runningStates: readonly string[], agent: AgentSettings): SkipReason | null {
  const running = runningStates.length;
  if (running >= agent.maxConcurrentAgents) {
    return { code: 'no_slot', text: `no slot (${running} of ${agent.maxConcurrentAgents})` };
  }
  const key = normalizeState(state);
  const limit = agent.maxConcurrentAgentsByState[key];
  if (limit === undefined) return null;
  const inState = runningStates.filter((other) => normalizeState(other) === key).length;
  if (inState < limit) return null;
  return { code: 'no_slot_in_state', text: `no slot in state "${state}" (${inState} of ${limit})` };
}

/** The move that Baton makes itself when it starts work on an issue. */
export interface StartMove {
  readonly from: string;
  readonly to: string;
}

/** The state in which an issue takes its slot: the one it is moved to when it starts. */
export function stateOnceStarted({ state }: Issue, move: StartMove | undefined): string {
  return move !== undefined && normalizeState(state) === normalizeState(move.from) ? move.to : state;
}
