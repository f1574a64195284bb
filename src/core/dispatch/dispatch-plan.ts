import type { Issue } from '../issue/issue.ts';
import { inDispatchOrder } from './dispatch-order.ts';
import type { SkipReason } from './eligibility.ts';
import { type GateAnswer, type GateFacts, openGates } from './gates.ts';

export interface DispatchFacts extends GateFacts {
  readonly issues: readonly Issue[];
}

export interface DispatchDecision {
  readonly issue: Issue;
  readonly reason: SkipReason | null;
}

/** The answers of all gates about one issue at its place in the order. */
export interface DispatchExplanation {
  readonly answers: readonly GateAnswer[];
  /** How many issues start before it and have taken their slots. */
  readonly startsBefore: number;
}

/** Decides about every issue in dispatch order; one that starts takes its slot from those after it. */
export function planDispatch(facts: DispatchFacts): DispatchDecision[] {
  const gates = openGates(facts, facts.issues);
  return inDispatchOrder(facts.issues, facts.roleOf).map((issue) => {
    const reason = gates.whyNot(issue);
    if (reason === null) gates.letThrough(issue);
    return { issue, reason };
  });
}

/** Explains the decision of a plan for `issues` and this one about this one, whether it is among them or not. */
export function explainDispatch(issue: Issue, facts: DispatchFacts): DispatchExplanation {
  const gates = openGates(facts, facts.issues);
  const isAmong = facts.issues.some(({ id }) => id === issue.id);
  const issues = facts.issues.map((each) => (each.id === issue.id ? issue : each));
  for (const other of inDispatchOrder(isAmong ? issues : [...issues, issue], facts.roleOf)) {
    if (other === issue) break;
    if (gates.whyNot(other) === null) gates.letThrough(other);
  }
  return { answers: gates.askAll(issue), startsBefore: gates.startsBefore() };
}
