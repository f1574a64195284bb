import type { Issue } from '../issue/issue.ts';
import type { Role } from '../run/role.ts';
import type { Settings } from '../settings.ts';
import { type IssueGateName, issueGates, type SkipReason, trackerRules } from './eligibility.ts';
import { countSlots, type Slot, type StartMove, stateOnceStarted } from './slots.ts';

/**
 * The gates between an issue and its run, in the order of their checks. Dispatch keeps the first refusal; an
 * explanation shows them all.
 *
 * A claim comes first: an issue that runs, waits for its retry or is held does not wait for a pause or a slot, and the
 * claim is what the user asks about. Then come the rules for every issue, the issue itself, whether a trial is about it,
 * its own limits, and last the slots, because they change soonest. Blockers come before the tracker's own verdict on an
 * issue: they say more, and some trackers mean exactly that.
 */
const gateOrder = [
  'free_here',
  'free_elsewhere',
  'workflow',
  'not_paused',
  'day_limit',
  'role_budget',
  'headroom',
  'environment',
  'requests_left',
  'account_ready',
  'review_limit',
  'claim_limit',
  'fields',
  'labels',
  'not_terminal',
  'active',
  'unblocked',
  'dispatchable',
  'plan',
  'pipeline',
  'chosen',
  'own_limits',
  'slot',
  'slot_in_state',
  'slot_in_baton',
] as const;

export type GateName = (typeof gateOrder)[number];

/** The gates whose facts are not the issue's own; the caller passes the facts in. */
export type OutsideGateName = Exclude<GateName, IssueGateName | 'slot' | 'slot_in_state'>;

export interface OutsideGate {
  /** `startsBefore` issues of the same decision start before this one. */
  readonly refuse: (issue: Issue, startsBefore: number) => SkipReason | null;
  readonly passed: (issue: Issue, startsBefore: number) => string;
}

/** A gate that is not passed in does not exist: it refuses nothing and is not shown. */
export type OutsideGates = Readonly<Partial<Record<OutsideGateName, OutsideGate>>>;

export interface GateFacts {
  readonly settings: Pick<Settings, 'tracker' | 'agent' | 'judge'>;
  /** The slots that are taken already. */
  readonly taken: readonly Slot[];
  /** The role of the next run of an issue; absent: every run is a worker's. */
  readonly roleOf?: (issue: Issue) => Role;
  /** A worker that the decision is not about waits for a slot. */
  readonly areWorkersWaiting?: boolean;
  /** The move that Baton makes when a run starts; undefined if it makes none. */
  readonly startMove: StartMove | undefined;
  readonly outside: OutsideGates;
}

export interface GateAnswer {
  readonly gate: GateName;
  readonly refusal: SkipReason | null;
  /** The refusal's words, or why there is none. */
  readonly text: string;
}

/** The gates during one decision about many issues. */
export interface Gates {
  /** The first refusal; null lets the issue start. */
  whyNot(issue: Issue): SkipReason | null;
  /** The issue starts: it takes its slot from those after it. */
  letThrough(issue: Issue): void;
  askAll(issue: Issue): GateAnswer[];
  startsBefore(): number;
}

const slotGates: readonly GateName[] = ['slot', 'slot_in_state', 'slot_in_baton'];

/** `issues`: those that the decision is about. */
export function openGates(facts: GateFacts, issues: readonly Issue[] = []): Gates {
  const { settings, taken, startMove, outside } = facts;
  const roleOf = rememberLast(facts.roleOf ?? (() => 'worker'));
  const rules = trackerRules(settings.tracker);
  const slots = countSlots(taken, settings);
  let isWorkerWaiting: boolean | null = facts.areWorkersWaiting === true ? true : null;
  const areWorkersWaiting = (): boolean => {
    isWorkerWaiting ??= issues.some((issue) => roleOf(issue) === 'worker' && waitsForSlot(issue));
    return isWorkerWaiting;
  };
  const startedStates = new Map<string, string>();
  const stateOf = (issue: Issue): string => {
    let state = startedStates.get(issue.state);
    if (state === undefined) {
      state = stateOnceStarted(issue, startMove);
      startedStates.set(issue.state, state);
    }
    return state;
  };
  const started = new Set<string>();
  const gates: Partial<Record<GateName, OutsideGate>> = {
    ...outside,
    free_here: {
      refuse: (issue, startsBefore) =>
        started.has(issue.id) ? namedTwice : (outside.free_here?.refuse(issue, startsBefore) ?? null),
      passed: (issue, startsBefore) => outside.free_here?.passed(issue, startsBefore) ?? 'no agent works on it',
    },
    slot: { refuse: (issue) => slots.whyNone(roleOf(issue), areWorkersWaiting), passed: slots.describe },
    slot_in_state: {
      refuse: (issue) => slots.whyNoneIn(stateOf(issue)),
      passed: (issue) => slots.describeIn(stateOf(issue)),
    },
  };
  for (const gate of issueGates) {
    gates[gate.name] = {
      refuse: (issue) => gate.refuse(issue, rules, roleOf(issue)),
      passed: (issue) => gate.passed(issue, rules, roleOf(issue)),
    };
  }
  const table = gateOrder.flatMap((name) => {
    const gate = gates[name];
    return gate === undefined ? [] : [{ name, refuse: gate.refuse, passed: gate.passed }];
  });
  /** Nothing but a slot is missing. */
  const waitsForSlot = (issue: Issue): boolean =>
    table.every(({ name, refuse }) => slotGates.includes(name) || refuse(issue, 0) === null);
  return {
    whyNot: (issue) => {
      for (const { refuse } of table) {
        const refusal = refuse(issue, started.size);
        if (refusal !== null) return refusal;
      }
      return null;
    },
    letThrough: (issue) => {
      started.add(issue.id);
      slots.take({ state: stateOf(issue), role: roleOf(issue) });
    },
    askAll: (issue) =>
      table.map(({ name, refuse, passed }) => {
        const refusal = refuse(issue, started.size);
        return { gate: name, refusal, text: refusal?.text ?? passed(issue, started.size) };
      }),
    startsBefore: () => started.size,
  };
}

/** Many gates ask for the role of the same issue in turn. */
function rememberLast(roleOf: (issue: Issue) => Role): (issue: Issue) => Role {
  let last: { readonly issue: Issue; readonly role: Role } | null = null;
  return (issue) => {
    if (last?.issue !== issue) last = { issue, role: roleOf(issue) };
    return last.role;
  };
}

/** A tracker that is read page by page may name an issue twice when it moves meanwhile; it gets one agent. */
const namedTwice: SkipReason = { code: 'claimed', text: 'it is starting now; the tracker listed it twice' };
