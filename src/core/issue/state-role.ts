import type { StartMove } from '../dispatch/slots.ts';
import type { TrackerSettings } from '../settings.ts';

/** What a state means to Baton where Baton itself moves issues (seed 4, Status Transitions). */
export type StateRole = keyof TrackerSettings['states'];

/** The move at the start of a run, where the file names both of its states. */
export function startMoveOf({ todo, inProgress }: TrackerSettings['states']): { readonly startMove?: StartMove } {
  return todo === null || inProgress === null ? {} : { startMove: { from: todo, to: inProgress } };
}

/** The tracker's own name of a role, or why Baton has none and so leaves the issue where it is. */
export type RoleState = { readonly state: string } | { readonly state: null; readonly why: string };

export function stateFor(role: StateRole, { states, kind }: Pick<TrackerSettings, 'states' | 'kind'>): RoleState {
  const state = states[role];
  if (state !== null) return { state };
  const key = `tracker.states.${role === 'inProgress' ? 'in_progress' : role}`;
  return { state, why: `${key} is not set, and trackers of the kind ${kind} have no such state of their own` };
}
