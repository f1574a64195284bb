import { type Issue, normalizeState } from '../issue/issue.ts';
import type { Role } from '../run/role.ts';
import type { TrackerSettings } from '../settings.ts';
import type { SkipCode } from './waiting-codes.ts';

/** Why an issue is not started now, in plain words, with a stable code for programs. */
export interface SkipReason {
  readonly code: SkipCode;
  readonly text: string;
}

/** Whether an issue waits for nothing but a slot. */
export function isAboutSlots({ code }: SkipReason): boolean {
  return code === 'project_full' || code === 'state_full' || code === 'global_full';
}

export type StateClass = 'active' | 'terminal' | 'other';

/** The `tracker` settings made ready for many issues: each distinct name of a state is read once. */
export interface TrackerRules {
  readonly requiredLabels: readonly string[];
  stateOf(name: string): { readonly key: string; readonly class: StateClass; readonly isReview: boolean };
}

export type IssueGateName = 'fields' | 'dispatchable' | 'labels' | 'not_terminal' | 'active' | 'unblocked';

/** One rule about the tracker's state of an issue: why it refuses, or what to say when it does not. */
export interface IssueGate {
  readonly name: IssueGateName;
  refuse(issue: Issue, rules: TrackerRules, role: Role): SkipReason | null;
  passed(issue: Issue, rules: TrackerRules, role: Role): string;
}

/**
 * Whether the tracker's state of an issue allows work on it, claims and slots aside (seed 2, Candidate Selection Rules;
 * specification 8.2). Null means yes.
 */
export function whyNotRoutable(issue: Issue, tracker: TrackerSettings, role: Role = 'worker'): SkipReason | null {
  return firstRefusal(routableGates, issue, trackerRules(tracker), role);
}

/** As `whyNotRoutable`, and also that no blocker is open: the rule for starting a run, not for continuing one. */
export function whyNotCandidate(issue: Issue, tracker: TrackerSettings, role: Role = 'worker'): SkipReason | null {
  return firstRefusal(issueGates, issue, trackerRules(tracker), role);
}

/** Why Baton must leave an issue alone in every state: it lacks a label, or belongs to someone else. */
export function whyNotBatons(issue: Issue, tracker: TrackerSettings): SkipReason | null {
  return firstRefusal([fields, labels, dispatchable], issue, trackerRules(tracker), 'worker');
}

/** What an issue's state means to the scheduler. A state in both lists is terminal. */
export function stateClass(state: string, tracker: TrackerSettings): StateClass {
  return trackerRules(tracker).stateOf(state).class;
}

export function trackerRules({
  activeStates,
  reviewStates,
  terminalStates,
  requiredLabels,
}: TrackerSettings): TrackerRules {
  const active = new Set(activeStates.map(normalizeState));
  const terminal = new Set(terminalStates.map(normalizeState));
  const review = new Set(reviewStates.map(normalizeState));
  const known = new Map<string, { key: string; class: StateClass; isReview: boolean }>();
  return {
    requiredLabels,
    stateOf: (name) => {
      let found = known.get(name);
      if (found === undefined) {
        const key = normalizeState(name);
        const state = terminal.has(key) ? 'terminal' : active.has(key) ? 'active' : 'other';
        found = { key, class: state, isReview: state !== 'terminal' && review.has(key) };
        known.set(name, found);
      }
      return found;
    },
  };
}

function firstRefusal(gates: readonly IssueGate[], issue: Issue, rules: TrackerRules, role: Role): SkipReason | null {
  for (const gate of gates) {
    const reason = gate.refuse(issue, rules, role);
    if (reason !== null) return reason;
  }
  return null;
}

const neededFields = ['id', 'identifier', 'title', 'state'] as const;

const fields: IssueGate = {
  name: 'fields',
  refuse: (issue) => {
    if (neededFields.every((field) => issue[field].trim() !== '')) return null;
    const missing = neededFields.filter((field) => issue[field].trim() === '');
    return { code: 'missing_field', text: `it has no ${missing.join(', ')}` };
  },
  passed: () => 'it has an id, an identifier, a title and a state',
};

const notForDispatch = { code: 'not_dispatchable', text: 'the tracker says that no agent may start on it' } as const;

const dispatchable: IssueGate = {
  name: 'dispatchable',
  refuse: (issue) => (issue.dispatchable ? null : notForDispatch),
  passed: () => 'the tracker allows work on it',
};

const labels: IssueGate = {
  name: 'labels',
  refuse: (issue, { requiredLabels }) => {
    const lacks = (label: string): boolean => label === '' || !issue.labels.includes(label);
    if (!requiredLabels.some(lacks)) return null;
    return { code: 'missing_label', text: `it lacks the required label ${quoted(requiredLabels.filter(lacks))}` };
  },
  passed: (_issue, { requiredLabels }) =>
    requiredLabels.length === 0 ? 'no label is required' : `it has the required label ${quoted(requiredLabels)}`,
};

const notTerminal: IssueGate = {
  name: 'not_terminal',
  refuse: ({ state }, rules) =>
    rules.stateOf(state).class === 'terminal'
      ? { code: 'terminal_state', text: `its state "${state}" is terminal` }
      : null,
  passed: ({ state }) => `its state "${state}" is not terminal`,
};

/** In which states a role may run: a judge while its change is in review, all others while the issue is active. */
const active: IssueGate = {
  name: 'active',
  refuse: ({ state }, rules, role) => {
    const { class: found, isReview } = rules.stateOf(state);
    if (role === 'judge' ? isReview : found === 'active') return null;
    return {
      code: 'inactive_state',
      text: `its state "${state}" is not ${role === 'judge' ? 'for review' : 'active'}`,
    };
  },
  passed: ({ state }, _rules, role) => `its state "${state}" is ${role === 'judge' ? 'for review' : 'active'}`,
};

/** Only an issue in `Todo`, where no work has begun, waits for its blockers (seed 1, Blocker rule). */
const unblocked: IssueGate = {
  name: 'unblocked',
  refuse: ({ state, blockedBy }, rules) => {
    if (blockedBy.length === 0 || rules.stateOf(state).key !== 'todo') return null;
    const open = blockedBy.filter(
      (blocker) => blocker.state === null || rules.stateOf(blocker.state).class !== 'terminal',
    );
    if (open.length === 0) return null;
    const names = open.map(
      (blocker) => `${blocker.identifier ?? blocker.id ?? 'an unknown issue'} (${blocker.state ?? 'state unknown'})`,
    );
    return { code: 'blocked', text: `it waits for ${names.join(', ')}` };
  },
  passed: ({ state, blockedBy }, rules) => {
    if (blockedBy.length === 0) return 'nothing blocks it';
    return rules.stateOf(state).key === 'todo'
      ? 'all issues that blocked it are finished'
      : `in state "${state}" blockers do not matter`;
  },
};

/**
 * What must hold for a run to continue, in the order of the checks. Terminal comes first: it says more than "not
 * active".
 */
const routableGates: readonly IssueGate[] = [fields, labels, notTerminal, active, dispatchable];

/** What must hold of the issue itself for a run to start. */
export const issueGates: readonly IssueGate[] = [fields, labels, notTerminal, active, unblocked, dispatchable];

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
