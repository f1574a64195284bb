import { compareForDispatch } from './dispatch-order.ts';
import { type SkipReason, whyNotCandidate } from './eligibility.ts';
import type { Issue } from './issue.ts';
import type { Settings } from './settings.ts';
import { whyNoSlot } from './slots.ts';

export interface DispatchFacts {
  readonly issues: readonly Issue[];
  readonly settings: Pick<Settings, 'tracker' | 'agent'>;
  /** The tracker states of the issues that run already. */
  readonly runningStates: readonly string[];
  /** Reasons beyond the issue itself: a claim, a pause, the bounds of a trial, given how many would start before it. */
  readonly whyNot: (issue: Issue, startsBefore: number) => SkipReason | null;
}

/** What happens to one issue: it starts, or it does not for a reason. */
export interface DispatchDecision {
  readonly issue: Issue;
  readonly reason: SkipReason | null;
}

/** Decides about every issue in dispatch order; one that starts takes its slot from those after it. */
export function planDispatch({ issues, settings, runningStates, whyNot }: DispatchFacts): DispatchDecision[] {
  const states = [...runningStates];
  return issues.toSorted(compareForDispatch).map((issue) => {
    const startsBefore = states.length - runningStates.length;
    const reason =
      whyNot(issue, startsBefore) ??
      whyNotCandidate(issue, settings.tracker) ??
      whyNoSlot(issue.state, states, settings.agent);
    if (reason === null) states.push(issue.state);
    return { issue, reason };
  });
}
