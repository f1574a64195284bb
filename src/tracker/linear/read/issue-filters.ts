import { normalizeState } from '../../../core/issue/issue.ts';

/** Which issues are meant, as Linear's `IssueFilter`. All of them stay inside the project: what is not in it does not exist. */
export type IssueFilter = Readonly<Record<string, unknown>>;

export function inProject(slug: string): IssueFilter {
  return { project: { slugId: { eq: slug } } };
}

/** Linear compares names as they are spelled, so it is told not to. */
export function inStates(slug: string, states: readonly string[]): IssueFilter {
  return { ...inProject(slug), state: { or: states.map((name) => ({ name: { eqIgnoreCase: name } })) } };
}

export function withIds(slug: string, ids: readonly string[]): IssueFilter {
  return { ...inProject(slug), id: { in: ids } };
}

/** `since` is a time of Linear's own, never of our clock. */
export function changedSince(slug: string, since: number): IssueFilter {
  return { ...inProject(slug), updatedAt: { gte: new Date(since).toISOString() } };
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Linear's ids are UUIDs; it may refuse a whole list because of one thing in it that is none. */
export function isPossibleId(id: string): boolean {
  return uuid.test(id);
}

/** States as they were spelled, each once, by how they are compared. */
export function distinctStates(states: readonly string[]): ReadonlyMap<string, string> {
  return new Map(states.map((state) => [normalizeState(state), state.trim()]));
}
