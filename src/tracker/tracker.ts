import type { Author } from '../core/author.ts';
import type { Issue } from '../core/issue.ts';
import type { StartMove } from '../core/slots.ts';

/**
 * The seam to an issue tracker (specification 11.1). `test/conformance/tracker.ts` is its suite; every adapter runs it
 * unchanged. What must hold:
 *
 * - A read is whole or it rejects with a BatonError of a `tracker_*` code: an error is never read as "no issues".
 * - `fetchByStates` gives every issue in one of the states, compared without regard to case, in a stable order. No
 *   states means no issues and no request. A malformed record is left out and counted in the log.
 * - `fetchByIds` gives full records in the order asked, each id once; an id that is missing in the answer does not exist
 *   any more. No ids means no request. A malformed record that was asked for fails the whole call.
 * - Both stop soon after their signal aborts.
 */
export interface Tracker {
  readonly kind: string;
  fetchByStates(states: readonly string[], signal?: AbortSignal): Promise<readonly Issue[]>;
  fetchByIds(ids: readonly string[], signal?: AbortSignal): Promise<readonly Issue[]>;
  /** Null where Baton cannot change anything in this tracker; agents then use the tracker's own tools. */
  readonly changes: TrackerChanges | null;
  /** The move that Baton makes itself when it starts work on an issue; without it that is the agent's business. */
  readonly startMove?: StartMove;
  /** It is on this machine and costs nothing to read: it is looked at every few seconds, whatever the poll interval. */
  readonly isLocal?: boolean;
}

/** What Baton may change in a tracker on behalf of a run, through `tools/`. */
export interface TrackerChanges {
  moveIssue(id: string, state: string, author: Author, signal?: AbortSignal): Promise<Issue>;
  addComment(id: string, body: string, author: Author, signal?: AbortSignal): Promise<void>;
}
