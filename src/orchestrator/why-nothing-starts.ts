import type { SkipReason } from '../core/eligibility.ts';
import { isMeantBy } from '../core/issue.ts';
import { whyDayIsOver } from './check-limits.ts';
import type { OrchestratorContext } from './context.ts';
import { whyNoRequests } from './pace.ts';
import type { IssueName, SchedulingState } from './scheduling-state.ts';

/**
 * Why nothing new may start on this issue, whatever its own merits: a pause, the day's limit, too little disk or memory, too
 * few requests, no account with quota, the bounds of a trial. Looks are asked this too, so backpressure has no place here: it refuses new claims, and what is
 * claimed goes on.
 */
export function whyNothingStarts(context: OrchestratorContext, issue: IssueName): SkipReason | null {
  return (
    whyPaused(context.state) ??
    whyDayIsOver(context) ??
    context.room.whyNone() ??
    whyNoRequests(context) ??
    context.accounts.whyNone(context.source.read().workflow.settings.agent, startsInFlight(context.state)) ??
    whyNotChosen(context, issue, 0)
  );
}

export function whyPaused({ paused }: SchedulingState): SkipReason | null {
  if (paused === null) return null;
  const what = paused.kind === 'pause' ? 'Baton is paused' : 'Baton is draining';
  return { code: 'paused', text: paused.reason === null ? what : `${what}: ${paused.reason}` };
}

/** Runs whose start is being written: which account they use is not known yet. */
export function startsInFlight({ running }: SchedulingState): number {
  return [...running.values()].filter(({ account }) => account === null).length;
}

/** Why a trial is not about this issue, or has had its runs. */
export function whyNotChosen(
  { state, trial }: OrchestratorContext,
  issue: IssueName,
  startsBefore: number,
): SkipReason | null {
  if (trial === null) return null;
  if (trial.only !== null && !trial.only.some((name) => isMeantBy(issue, name))) {
    return { code: 'not_chosen', text: `this trial is only for ${trial.only.join(', ')}` };
  }
  if (trial.maxRuns === null) return null;
  const beginning = [...state.running.values()].filter(({ before }) => before === null).length;
  if (state.totals.runs + beginning + startsBefore < trial.maxRuns) return null;
  const runs = trial.maxRuns === 1 ? '1 run' : `${trial.maxRuns} runs`;
  return { code: 'not_chosen', text: `this trial has had its ${runs}` };
}
