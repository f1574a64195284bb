import { compareForDispatch } from './dispatch-order.ts';
import { type SkipReason, whyNotCandidate } from './eligibility.ts';
import type { Issue } from './issue.ts';
import type { Settings } from './settings.ts';
import { type StartMove, stateOnceStarted, whyNoSlot } from './slots.ts';

export interface DispatchFacts {
  readonly issues: readonly Issue[];
  readonly settings: Pick<Settings, 'tracker' | 'agent'>;
  /** The tracker states of the issues that run already. */
  readonly runningStates: readonly string[];
  /** Where the tracker leaves that to Baton. */
  readonly startMove: StartMove | undefined;
  /** Reasons beyond the issue itself: a claim, a pause, the bounds of a trial, given how many would start before it. */
  readonly whyNot: (issue: Issue, startsBefore: number) => SkipReason | null;
}

/** What happens to one issue: it starts, or it does not for a reason. */
export interface DispatchDecision {
  readonly issue: Issue;
  readonly reason: SkipReason | null;
}

/** Decides about every issue in dispatch order; one that starts takes its slot from those after it. */
export function planDispatch({
  issues,
  settings,
  runningStates,
  startMove,
  whyNot,
}: DispatchFacts): DispatchDecision[] {
  const states = [...runningStates];
  return issues.toSorted(compareForDispatch).map((issue) => {
    const state = stateOnceStarted(issue, startMove);
    const startsBefore = states.length - runningStates.length;
    const reason =
      whyNot(issue, startsBefore) ??
      whyNotCandidate(issue, settings.tracker) ??
      whyNoSlot(state, states, settings.agent);
    if (reason === null) states.push(state);
    return { issue, reason };
  });
}
