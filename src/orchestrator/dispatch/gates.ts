import { backpressureGates } from '../../core/dispatch/backpressure.ts';
import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import type { OutsideGate, OutsideGateName } from '../../core/dispatch/gates.ts';
import type { Slot } from '../../core/dispatch/slots.ts';
import type { Issue } from '../../core/issue/issue.ts';
import type { PhaseWork } from '../../core/pipeline/phase-work.ts';
import { type Role, roles } from '../../core/run/role.ts';
import { budgetedRoles, budgetOf, usedOfBudget } from '../../core/run/role-budget.ts';
import type { Settings } from '../../core/settings.ts';
import type { WorkflowReading } from '../../core/workflow.ts';
import type { Phases } from '../pipeline/phases.ts';
import type { Candidates } from '../poll/candidates.ts';
import { whyNoRequests } from '../poll/pace.ts';
import type { Judges } from '../review/judges.ts';
import { whyDayLimit } from '../runs/check-limits.ts';
import { accountsIn, agentsIn, duringDecision, whyNoAgent } from './agent-of.ts';
import type { PoolMember } from './slot-pool.ts';
import { type StartParts, startsInFlight, whyNotChosen } from './why-nothing-starts.ts';

export interface GateParts extends StartParts {
  readonly candidates: Candidates;
  readonly judges: Judges;
  readonly phases: Phases;
  readonly pool: PoolMember | null;
  readonly isCleaning: (issueId: string) => boolean;
  readonly cleaning: () => readonly string[];
}

/** A claim of another daemon on this machine, as a visitor sees it. */
export interface OtherClaim {
  readonly issueId: string;
  /** Null when it takes none. */
  readonly slot: Slot | null;
  readonly why: string;
}

export interface DispatchGate extends OutsideGate {
  /**
   * Everything except the issue that the gate's answer depends on, as JSON data. While it is unchanged for every gate,
   * the candidates need no new decision.
   */
  readonly dependsOn: unknown;
}

export type DispatchGates = Readonly<Partial<Record<OutsideGateName, DispatchGate>>>;

/** The gates for one decision. `otherClaims` holds claims of a running daemon, as a visitor sees them. */
export function dispatchGates(
  parts: GateParts,
  { problem, workflow }: WorkflowReading,
  otherClaims: readonly OtherClaim[] = [],
): DispatchGates {
  const { claims, candidates, judges, phases, pause, pool, headroom, environment, totals, trial } = parts;
  const { agent } = workflow.settings;
  const accounts = duringDecision(parts.accounts);
  const elsewhere = new Map<string, SkipReason>([
    ...claims.elsewhere.map(({ issueId, host }) => [issueId, claimedOn(host)] as const),
    ...otherClaims.map(({ issueId, why }) => [issueId, { code: 'claimed', text: why }] as const),
  ]);
  const unusable: SkipReason | null =
    problem === null
      ? null
      : { code: 'workflow_problem', text: `the workflow file cannot be used: ${problem.message}` };
  const inFlight = startsInFlight(claims);
  const claimed = new Set([...claims.all.keys(), ...elsewhere.keys()]);
  const { inReview } = candidates;
  const ownClaims = claims.facts();
  const backpressure = backpressureGates({ inReview, claimed }, agent, judges.roleOf);
  const { settings } = workflow;
  const most = accountsIn(settings).length;
  const usedUp = new Map(budgetedRoles(settings).map((role) => [role, parts.spending.roles.whyNone(role)] as const));
  return {
    free_here: {
      refuse: ({ id }) => claims.whyClaimed(id) ?? (parts.isCleaning(id) ? beingCleaned : null),
      passed: () => 'no agent works on it',
      dependsOn: [ownClaims, parts.cleaning()],
    },
    free_elsewhere: {
      refuse: ({ id }) => elsewhere.get(id) ?? null,
      passed: () => 'no other daemon has it',
      dependsOn: [...elsewhere.keys()],
    },
    workflow: forAll(unusable, 'the workflow file is usable'),
    not_paused: forAll(pause.whyPaused(), 'Baton is not paused'),
    day_limit: forAll(whyDayLimit(parts), 'no limit of the day is reached'),
    role_budget: {
      refuse: (issue) => usedUp.get(judges.roleOf(issue)) ?? null,
      passed: (issue) => budgetText(parts, judges.roleOf(issue), settings),
      dependsOn: [...usedUp],
    },
    requests_left: forAll(whyNoRequests(parts), 'enough requests are left'),
    account_ready: {
      refuse: (issue, startsBefore) =>
        whyNoAgent(accounts, settings, judges.wishFor(issue, 0), inFlight + startsBefore),
      passed: () => 'an account of the agent is ready',
      // Covers every number of earlier starts up to the number of accounts: with that many, each account that needs a
      // probe has one.
      dependsOn: [
        inFlight,
        agentsIn(settings).map((each) =>
          Array.from({ length: most + 1 }, (_, starts) => accounts.whyNone(each.agent, starts)?.text),
        ),
      ],
    },
    headroom: forAll(headroom.whyNone(), 'enough disk and memory are free'),
    environment: {
      refuse: (_, startsBefore) => environment.whyNone(startsBefore),
      passed: () => 'runs can begin',
      dependsOn: [environment.whyNone(0), environment.whyNone(1)],
    },
    review_limit: { ...backpressure.review_limit, dependsOn: [inReview, ownClaims] },
    claim_limit: { ...backpressure.claim_limit, dependsOn: [ownClaims, [...elsewhere.keys()]] },
    ...(phases.plans.isOn
      ? {
          plan: {
            refuse: (issue: Issue) => phases.plans.whyNot(issue),
            passed: (issue: Issue) => planText(phases.plans, issue),
            dependsOn: phases.plans.facts(),
          },
        }
      : {}),
    ...(phases.isOn
      ? {
          pipeline: {
            refuse: (issue: Issue) => (judges.roleOf(issue) === 'judge' ? null : phases.whyNot(issue)),
            passed: (issue: Issue) => phaseText(phases.workOf(issue)),
            dependsOn: phases.facts(),
          },
        }
      : {}),
    chosen: {
      refuse: (issue, startsBefore) => whyNotChosen(parts, issue, startsBefore),
      passed: () => (trial === null ? 'neither --only nor --max-runs is set' : '--only and --max-runs allow it'),
      dependsOn: trial === null ? null : [totals.runs, ownClaims],
    },
    ...(pool === null
      ? {}
      : {
          slot_in_baton: {
            refuse: (issue) => pool.mayStart(judges.roleOf(issue), settings.judge.extraSlotsPercent),
            passed: () => 'a shared slot is free',
            dependsOn: roles.map((role) => pool.mayStart(role, settings.judge.extraSlotsPercent)),
          },
        }),
  };
}

/** A gate with the same answer for every issue. */
function forAll(refusal: SkipReason | null, passed: string): DispatchGate {
  return { refuse: () => refusal, passed: () => passed, dependsOn: refusal };
}

/** With the price of the next run: what is used of the budget that pays for it. */
function budgetText({ spending }: Pick<GateParts, 'spending'>, role: Role, settings: Settings): string {
  const budget = budgetOf(role, settings);
  const used = budget === null ? '' : `; used today: ${usedOfBudget(role, budget, spending.roles.of(role))}`;
  return `the budget of the role "${role}" allows it${used}`;
}

function planText(plans: Phases['plans'], issue: Issue): string {
  const work = plans.workOf(issue);
  if (work === 'planner') return 'a planner splits it first: one run, and at least one more for each part';
  const parts = plans.factsOf(issue.id)?.plan?.children ?? [];
  if (work !== 'parent') return 'no plan prevents its start';
  return `it was split into ${parts.map(({ identifier, id }) => identifier ?? id).join(', ')}`;
}

function phaseText(work: PhaseWork | null): string {
  if (work?.role === 'phase_judge') return `a judge reviews the artifact of its phase "${work.phase}"`;
  return work?.phase == null ? 'it is in no phase' : `it is in the phase "${work.phase}"`;
}

const beingCleaned: SkipReason = { code: 'cleaning', text: 'its previous workspace is being removed' };

function claimedOn(host: string | null): SkipReason {
  return { code: 'claimed_elsewhere', text: `another daemon has it${host === null ? '' : ` (${host})`}` };
}

/**
 * Everything that a decision about the candidates depends on, as one text: the candidates and the settings, which the
 * gates in core read, and the `dependsOn` of each gate here.
 */
export function decisionKey(
  gates: DispatchGates,
  { candidates, claims, judges }: Pick<GateParts, 'candidates' | 'claims' | 'judges'>,
  { workflow }: WorkflowReading,
): string {
  const all = Object.entries(gates).map(([name, gate]) => [name, gate.dependsOn]);
  return JSON.stringify([candidates.revision, workflow.revision, claims.takenSlots(), judges.facts(), all]);
}
