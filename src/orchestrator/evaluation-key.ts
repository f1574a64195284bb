import type { WorkflowReading } from '../core/workflow.ts';
import { whyDayIsOver } from './check-limits.ts';
import type { OrchestratorContext } from './context.ts';
import { whyNoRequests } from './pace.ts';

/**
 * Everything that a decision about the candidates depends on, as one text: while it is the same, the decision is, and
 * need not be made again. What every gate asks has to be in here (outside-gates.ts); it is made anew each time, so
 * nobody can forget to tell of a change.
 */
export function evaluationKey(context: OrchestratorContext, { workflow, problem }: WorkflowReading): string {
  const { state, room, pool } = context;
  return JSON.stringify([
    state.candidatesRevision,
    state.inReview?.size ?? null,
    workflow.revision,
    problem?.code ?? null,
    [...state.running.values()].map(({ issue, movesTo }) => [issue.id, movesTo ?? issue.state]),
    [...state.retrying.keys()],
    [...state.held.keys()],
    [...state.adopting],
    [...state.leftBehind],
    [...state.cleaning],
    state.elsewhere,
    state.paused,
    whyDayIsOver(context)?.text ?? null,
    room.whyNone()?.text ?? null,
    whyNoRequests(context)?.text ?? null,
    context.accounts.whyNone(workflow.settings.agent, 0)?.text ?? null,
    pool?.mayStart()?.code ?? null,
    state.totals.runs,
  ]);
}
