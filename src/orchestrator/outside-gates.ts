import { backpressureGates } from '../core/backpressure.ts';
import type { SkipReason } from '../core/eligibility.ts';
import type { OutsideGate, OutsideGates } from '../core/gates.ts';
import type { WorkflowReading } from '../core/workflow.ts';
import { whyDayIsOver } from './check-limits.ts';
import type { OrchestratorContext } from './context.ts';
import { whyNoRequests } from './pace.ts';
import { whyClaimed } from './scheduling-state.ts';
import { startsInFlight, whyNotChosen, whyPaused } from './why-nothing-starts.ts';

/** A claim of a daemon that runs beside this one. */
export interface ClaimBeside {
  readonly issueId: string;
  /** The state whose slot it takes; null when it takes none. */
  readonly slotInState: string | null;
  readonly why: string;
}

/** The gates whose facts the orchestrator has. `beside` are claims of a daemon that a visitor looks at from outside. */
export function outsideGates(
  context: OrchestratorContext,
  { problem, workflow }: WorkflowReading,
  beside: readonly ClaimBeside[] = [],
): OutsideGates {
  const { state, pool, room } = context;
  const { running, retrying, held, adopting } = state;
  const elsewhere = new Map<string, SkipReason>([
    ...state.elsewhere.map(({ issueId, host }) => [issueId, claimedOn(host)] as const),
    ...beside.map(({ issueId, why }) => [issueId, { code: 'claimed', text: why }] as const),
  ]);
  const unusable: SkipReason | null =
    problem === null
      ? null
      : { code: 'workflow_problem', text: `the workflow file cannot be used: ${problem.message}` };
  const dayIsOver = whyDayIsOver(context);
  const noRoom = room.whyNone();
  const noRequests = whyNoRequests(context);
  const inFlight = startsInFlight(state);
  const claimed = new Set([running, retrying, held, adopting, elsewhere].flatMap((each) => [...each.keys()]));
  return {
    free_here: gate((issue) => whyClaimed(state, issue.id), 'nobody works on it'),
    free_elsewhere: gate((issue) => elsewhere.get(issue.id) ?? null, 'no other daemon has it'),
    workflow: gate(() => unusable, 'the workflow file is good'),
    not_paused: gate(() => whyPaused(state), 'Baton is not paused'),
    day_limit: gate(() => dayIsOver, 'no limit of the day is reached'),
    requests_left: gate(() => noRequests, 'there are requests enough'),
    account_ready: gate(
      (_issue, startsBefore) => context.accounts.whyNone(workflow.settings.agent, inFlight + startsBefore),
      'an account of the agent has quota',
    ),
    free_room: gate(() => noRoom, 'there is disk and memory enough'),
    ...backpressureGates({ inReview: state.inReview?.size ?? null, claimed }, workflow.settings.agent),
    chosen: gate(
      (issue, startsBefore) => whyNotChosen(context, issue, startsBefore),
      'nothing keeps it out of this start',
    ),
    ...(pool === null ? {} : { slot_in_baton: gate(() => pool.mayStart(), 'this Baton has a slot') }),
  };
}

function gate(refuse: OutsideGate['refuse'], passed: string): OutsideGate {
  return { refuse, passed: () => passed };
}

function claimedOn(host: string | null): SkipReason {
  return { code: 'claimed_elsewhere', text: `another daemon has it${host === null ? '' : ` (${host})`}` };
}
