import { type Issue, normalizeState } from './issue.ts';
import type { TrackerSettings } from './settings.ts';

/** Why an issue is not started now, in plain words, with a stable code for programs. */
export interface SkipReason {
  readonly code:
    | 'missing_field'
    | 'not_dispatchable'
    | 'missing_label'
    | 'terminal_state'
    | 'inactive_state'
    | 'blocked'
    | 'claimed'
    | 'paused'
    | 'not_chosen'
    | 'no_slot'
    | 'no_slot_in_state';
  readonly text: string;
}

/**
 * Whether an issue may be worked on as it stands in the tracker, claims and slots aside (seed 2, Candidate Selection
 * Rules; specification 8.2). Null means yes.
 */
export function whyNotRoutable(issue: Issue, tracker: TrackerSettings): SkipReason | null {
  return (
    missingField(issue) ?? notDispatchable(issue) ?? missingLabel(issue, tracker) ?? wrongState(issue, tracker) ?? null
  );
}

/** As `whyNotRoutable`, and also that no blocker is open: the rule for starting, not for going on. */
export function whyNotCandidate(issue: Issue, tracker: TrackerSettings): SkipReason | null {
  return whyNotRoutable(issue, tracker) ?? openBlocker(issue, tracker);
}

/** What an issue's state means to the scheduler. A state in both lists is terminal. */
export function stateClass(state: string, tracker: TrackerSettings): 'active' | 'terminal' | 'other' {
  const wanted = normalizeState(state);
  if (tracker.terminalStates.some((name) => normalizeState(name) === wanted)) return 'terminal';
  if (tracker.activeStates.some((name) => normalizeState(name) === wanted)) return 'active';
  return 'other';
}

function missingField(issue: Issue): SkipReason | null {
  const fields = ['id', 'identifier', 'title', 'state'] as const;
  const missing = fields.filter((field) => issue[field].trim() === '');
  return missing.length === 0 ? null : { code: 'missing_field', text: `it has no ${missing.join(', ')}` };
}

function notDispatchable(issue: Issue): SkipReason | null {
  return issue.dispatchable ? null : { code: 'not_dispatchable', text: 'the tracker marks it as not for dispatch' };
}

function missingLabel(issue: Issue, tracker: TrackerSettings): SkipReason | null {
  const missing = tracker.requiredLabels.filter((label) => label === '' || !issue.labels.includes(label));
  if (missing.length === 0) return null;
  const names = missing.map((label) => `"${label}"`).join(', ');
  return { code: 'missing_label', text: `it lacks the required label ${names}` };
}

function wrongState(issue: Issue, tracker: TrackerSettings): SkipReason | null {
  const found = stateClass(issue.state, tracker);
  if (found === 'active') return null;
  if (found === 'terminal') return { code: 'terminal_state', text: `its state "${issue.state}" is terminal` };
  return { code: 'inactive_state', text: `its state "${issue.state}" is not an active one` };
}

/** Only an issue in `Todo`, which nobody began, waits for its blockers (seed 1, Blocker rule). */
function openBlocker(issue: Issue, tracker: TrackerSettings): SkipReason | null {
  if (normalizeState(issue.state) !== 'todo') return null;
  const open = issue.blockedBy.filter(
    (blocker) => blocker.state === null || stateClass(blocker.state, tracker) !== 'terminal',
  );
  if (open.length === 0) return null;
  const names = open.map(
    (blocker) => `${blocker.identifier ?? blocker.id ?? 'an unknown issue'} (${blocker.state ?? 'state unknown'})`,
  );
  return { code: 'blocked', text: `it waits for ${names.join(', ')}` };
}
