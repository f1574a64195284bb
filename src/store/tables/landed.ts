import type { IssueKey } from '../issue-key.ts';

/**
 * Issues that reached a terminal state after Baton worked on them, each with its latest landing. For people: nothing is
 * decided by it. What must hold: several daemons that see the same landing give it one time, that of the first.
 */
export interface Landed {
  /**
   * Writes down that an issue landed, and gives what is there then. `openAt` is when it was last known not to be over:
   * what is there of that time or later is the same landing, as another daemon saw it, and stays.
   */
  note(entry: LandedIssue, openAt: number): Promise<LandedIssue>;
  /** The latest of those that landed at `from` or later, at most `limit`; the latest last. */
  latest(project: string, query: { readonly from: number; readonly limit: number }): Promise<readonly LandedIssue[]>;
  /** Removes at most `limit` that landed before this; gives how many. */
  prune(landedBefore: number, limit: number): Promise<number>;
}

export interface LandedIssue extends IssueKey {
  readonly identifier: string;
  /** As it was then, cut to 1 KB by the store; null where it was not known, and so for the address. */
  readonly title: string | null;
  readonly url: string | null;
  /** The terminal state. */
  readonly state: string;
  readonly at: number;
}
