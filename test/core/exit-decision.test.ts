import { expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { ErrorCode } from '../../src/core/error-catalogue.ts';
import { decideAfterExit } from '../../src/core/exit-decision.ts';
import type { RunEnd, RunOutcome } from '../../src/core/run.ts';
import { settings } from '../fake/settings.ts';

const { agent } = settings();
const after = (end: Exclude<RunEnd, 'succeeded'>, code: ErrorCode, failures = 0) => {
  const outcome: RunOutcome = { end, turns: 1, error: new BatonError(code, 'why') };
  return decideAfterExit(outcome, failures, agent, 0);
};

it('a run that ended well is looked at again after a second, and its failures are forgotten', () => {
  const decision = decideAfterExit({ end: 'succeeded', turns: 1 }, 2, agent, 0.5);
  expect(decision).toEqual({ action: 'retry', kind: 'continuation', failures: 0, delayMs: 1_000 });
});

it('O20: a first failure waits ten seconds', () => {
  expect(after('failed', 'agent_exited')).toEqual({ action: 'retry', kind: 'failure', failures: 1, delayMs: 10_000 });
});

it('O19: the third failure in a row waits forty seconds', () => {
  expect(after('failed', 'agent_exited', 2)).toMatchObject({ failures: 3, delayMs: 40_000 });
});

it.each([
  ['stalled', 'run_stalled'],
  ['timed_out', 'agent_turn_timeout'],
] as const)('X1: a run that %s keeps its backoff', (end, code) => {
  expect(after(end, code, 1)).toMatchObject({ action: 'retry', failures: 2, delayMs: 20_000 });
});

it('a run that was stopped because its issue moved on gives the claim back', () => {
  expect(after('canceled_by_reconciliation', 'run_cancelled')).toEqual({ action: 'release' });
});

it('an agent that could not be ended keeps its ticket from being given to another', () => {
  expect(after('failed', 'agent_survives')).toEqual({ action: 'hold', reason: 'why' });
});

it('O31: a run that needs a person is held and not retried', () => {
  expect(after('failed', 'agent_input_required')).toEqual({ action: 'hold', reason: 'why' });
});
