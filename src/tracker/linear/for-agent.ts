import type { Ask } from '../tracker.ts';

/** How something is asked that only agents wish for: counted as theirs, unless somebody else is named. */
export function forAgent(ask: Ask = {}): Ask {
  return { ...ask, caller: ask.caller ?? { job: 'agent_tools', cause: 'agent' } };
}
