import { expect, it } from 'vitest';
import { lastStage, type RunEnd, type StopReason } from '../../../src/core/run/run.ts';
import { stopOutcome } from '../../../src/core/run/stop-outcome.ts';

const table = [
  ['stalled', 'stalled', 'run_stalled'],
  ['process_gone', 'failed', 'agent_exited'],
  ['terminal_state', 'canceled_by_reconciliation', 'run_cancelled'],
  ['inactive_state', 'canceled_by_reconciliation', 'run_cancelled'],
  ['not_routable', 'canceled_by_reconciliation', 'run_cancelled'],
  ['issue_missing', 'canceled_by_reconciliation', 'run_cancelled'],
  ['stopped_by_person', 'canceled_by_reconciliation', 'run_cancelled'],
  ['limit_reached', 'canceled_by_reconciliation', 'limit_reached'],
  ['unanswered', 'failed', 'agent_input_required'],
  ['taken_over', 'canceled_by_reconciliation', 'run_taken_over'],
  ['day_limit_reached', 'interrupted', 'run_interrupted'],
  ['claim_lost', 'interrupted', 'run_interrupted'],
  ['shutdown', 'interrupted', 'run_interrupted'],
] as const satisfies [StopReason, RunEnd, string][];

// @conforms limits.24
it.each(table)('a run that is stopped for %s ends as %s', (reason, end, code) => {
  const outcome = stopOutcome(reason, 3);
  expect(outcome).toMatchObject({ end, turns: 3, error: { code, details: { reason } } });
});

// @conforms 2.2
it('the last stage of a run is its end, and one of the eleven stages of seed 2', () => {
  const ends: RunEnd[] = ['succeeded', 'failed', 'timed_out', 'stalled', 'canceled_by_reconciliation'];
  expect(ends.map(lastStage)).toEqual(ends);
  expect(lastStage('interrupted')).toBe('canceled_by_reconciliation');
});
