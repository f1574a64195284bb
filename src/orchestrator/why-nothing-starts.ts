import type { SkipReason } from '../core/eligibility.ts';
import type { OrchestratorContext } from './context.ts';
import type { IssueName } from './scheduling-state.ts';

/** Why nothing new may start on this issue, whatever its own merits: a pause, or the bounds of a trial. */
export function whyNothingStarts(
  { state, trial }: OrchestratorContext,
  issue: IssueName,
  startsBefore = 0,
): SkipReason | null {
  if (state.paused !== null) {
    const what = state.paused.kind === 'pause' ? 'Baton is paused' : 'Baton is draining';
    return { code: 'paused', text: state.paused.reason === null ? what : `${what}: ${state.paused.reason}` };
  }
  if (trial === null) return null;
  if (trial.only !== null && !trial.only.some((name) => isName(issue, name))) {
    return { code: 'not_chosen', text: `this trial is only for ${trial.only.join(', ')}` };
  }
  if (trial.maxRuns !== null && state.totals.runs + startsBefore >= trial.maxRuns) {
    return { code: 'not_chosen', text: `this trial has had its ${trial.maxRuns} runs` };
  }
  return null;
}

function isName({ id, identifier }: IssueName, name: string): boolean {
  return id === name || identifier.toLowerCase() === name.toLowerCase();
}
