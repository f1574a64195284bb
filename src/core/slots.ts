import type { SkipReason } from './eligibility.ts';
import { normalizeState } from './issue.ts';
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
