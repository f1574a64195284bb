import { BatonError } from '../baton-error.ts';
import type { ErrorCode } from '../error-catalogue.ts';
import type { RunEnd, RunOutcome, StopReason } from './run.ts';

interface Stop {
  readonly end: Exclude<RunEnd, 'succeeded'>;
  readonly code: ErrorCode;
  readonly message: string;
}

const cancelled = (because: string): Stop => ({
  end: 'canceled_by_reconciliation',
  code: 'run_cancelled',
  message: `The run was stopped: ${because}.`,
});

const interrupted = (because: string): Stop => ({
  end: 'interrupted',
  code: 'run_interrupted',
  message: `The run was interrupted: ${because}.`,
});

/** The outcome of a run for each stop reason, whether the run had begun or not. */
const stops: Readonly<Record<StopReason, Stop>> = {
  stalled: { end: 'stalled', code: 'run_stalled', message: 'The agent was silent for too long.' },
  deadline: { end: 'timed_out', code: 'run_deadline', message: 'The run took longer than its task may take.' },
  process_gone: { end: 'failed', code: 'agent_exited', message: "The agent's process vanished without an exit code." },
  terminal_state: cancelled('the issue is in a terminal state'),
  inactive_state: cancelled('the issue is in a state that is not active'),
  not_routable: cancelled('the issue no longer matches the rules of the workflow file'),
  issue_missing: cancelled('the tracker no longer has the issue'),
  phase_moved: cancelled('a person moved the issue to another phase'),
  stopped_by_person: cancelled('a person stopped it'),
  limit_reached: {
    end: 'canceled_by_reconciliation',
    code: 'limit_reached',
    message: 'The run was stopped: its issue has reached a limit.',
  },
  unanswered: {
    end: 'failed',
    code: 'agent_input_required',
    message: 'No one answered the question of the agent in time. To answer it: baton ask list',
  },
  taken_over: { ...cancelled('a person took over the issue'), code: 'run_taken_over' },
  day_limit_reached: interrupted('the limit of the day is reached'),
  role_budget_reached: interrupted('the budget of its role for the day is used up'),
  claim_lost: interrupted('the claim on the issue was lost'),
  shutdown: interrupted('Baton stops'),
};

export function stopOutcome(reason: StopReason, turns: number): RunOutcome {
  const { end, code, message } = stops[reason];
  return { end, turns, error: new BatonError(code, message, { details: { reason } }) };
}
