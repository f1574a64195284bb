import { decideAfterExit } from '../core/exit-decision.ts';
import type { RunOutcome } from '../core/run.ts';
import type { OrchestratorContext } from './context.ts';
import { holdIssue } from './hold-issue.ts';
import { scheduleLook } from './schedule-look.ts';
import type { RunningEntry } from './scheduling-state.ts';

/** A run has ended and its processes are gone: frees the slot and decides what follows (seed 2, Transition Triggers). */
export function handleRunExit(context: OrchestratorContext, entry: RunningEntry, outcome: RunOutcome): void {
  const { state, source, chance, clock, logger } = context;
  const { issue, runId } = entry;
  const named = { issue_id: issue.id, issue_identifier: issue.identifier, run_id: runId, session_id: entry.threadId };
  state.running.delete(issue.id);
  state.totals.runsByEnd.set(outcome.end, (state.totals.runsByEnd.get(outcome.end) ?? 0) + 1);
  if (outcome.end === 'succeeded') logger.info('A run ended well.', { ...named, turns: outcome.turns });
  else if (outcome.end === 'canceled_by_reconciliation')
    logger.info('A run was ended.', { ...named, reason: entry.stopRequested });
  else logger.warn('A run failed.', { ...named, end: outcome.end, error: outcome.error });

  if (entry.holdAfterwards !== null) {
    const code = survives(outcome) ? 'agent_survives' : 'person';
    const hold = { issue, code, reason: entry.holdAfterwards, since: clock.now(), runId };
    context.own('hold', holdIssue(context, hold));
    context.requestTick();
    return;
  }
  const { settings } = source.read().workflow;
  const decision = decideAfterExit(outcome, entry.failures, settings.agent, chance.next());
  if (decision.action === 'hold') {
    const code = outcome.end === 'succeeded' ? 'person' : outcome.error.code;
    const hold = { issue, code, reason: decision.reason, since: clock.now(), runId };
    context.own('hold', holdIssue(context, hold));
  }
  if (decision.action === 'retry') {
    scheduleLook(context, {
      issue,
      kind: decision.kind,
      attempt: decision.kind === 'continuation' ? 1 : decision.failures,
      failures: decision.failures,
      error: outcome.end === 'succeeded' ? null : outcome.error.message,
      slotWaits: 0,
      delayMs: decision.delayMs,
    });
  }
  context.notify();
  // The freed slot is for whoever waits for one, now and not at the next poll.
  context.requestTick();
}

function survives(outcome: RunOutcome): boolean {
  return outcome.end !== 'succeeded' && outcome.error.code === 'agent_survives';
}
