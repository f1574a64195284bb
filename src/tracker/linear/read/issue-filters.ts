import { normalizeState } from '../../../core/issue/issue.ts';

/** Selects issues, as Linear's `IssueFilter`. All filters stay inside the project: for Baton nothing else exists. */
export type IssueFilter = Readonly<Record<string, unknown>>;

export function inProject(slug: string): IssueFilter {
  return { project: { slugId: { eq: slug } } };
}

/** Linear compares names case-sensitively by default, so the filter uses `eqIgnoreCase`. */
export function inStates(slug: string, states: readonly string[]): IssueFilter {
  return { ...inProject(slug), state: { or: states.map((name) => ({ name: { eqIgnoreCase: name } })) } };
}

export function withIds(slug: string, ids: readonly string[]): IssueFilter {
  return { ...inProject(slug), id: { in: ids } };
}

/** `since` is a time of Linear's clock, never of Baton's. */
export function changedSince(slug: string, since: number): IssueFilter {
  return { ...inProject(slug), updatedAt: { gte: new Date(since).toISOString() } };
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Linear's ids are UUIDs; it may refuse a whole list because of one value that is not a UUID. */
export function isPossibleId(id: string): boolean {
  return uuid.test(id);
}

/** The states as spelled, each once, by their normalised form. */
export function distinctStates(states: readonly string[]): ReadonlyMap<string, string> {
  return new Map(states.map((state) => [normalizeState(state), state.trim()]));
}
