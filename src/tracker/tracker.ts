import type { BatonError } from '../core/baton-error.ts';
import type { StartMove } from '../core/dispatch/slots.ts';
import type { Author } from '../core/issue/author.ts';
import type { Issue } from '../core/issue/issue.ts';
import type { RequestCaller } from '../core/requests/request-caller.ts';
import type { RequestPressure } from '../core/requests/request-pressure.ts';
import type { ToolAnswer, ToolDescription } from '../core/tool-door.ts';

/**
 * The seam to an issue tracker (specification 11.1). `test/conformance/tracker.ts` is its suite; every adapter runs it
 * unchanged. What must hold:
 *
 * - A read is whole or it rejects with a BatonError of a `tracker_*` code: an error is never read as "no issues".
 * - `fetchByStates` gives every issue in one of the states, compared without regard to case, in a stable order. No
 *   states means no issues and no request. A malformed record is left out and counted in the log.
 * - `fetchByIds` gives full records in the order asked, each id once; an id that is missing in the answer does not exist
 *   any more. No ids means no request. A malformed record that was asked for fails the whole call.
 * - `fetchSnapshot`, where there is one, answers what `fetchByStates` and `fetchByIds` would together, with fewer
 *   requests. It may keep what it read before and ask only for what changed; what is watched is as it is now, and `seen`
 *   tells which of the others are.
 * - `fetchComments`, where there is one, gives what was said on an issue, newest last and bounded (latest-comments.ts).
 *   Whoever wrote it has the names by which a workflow file may trust him, or none; what a run wrote has none, unless the
 *   tracker shows it under somebody's own. An id that does not exist rejects with `tracker_issue_not_found`.
 * - A read that was not made because requests are short rejects with `tracker_rate_limited`; `details.step` is then the
 *   pressure, and `details.until` the time to come again. A refusal of the service itself has no step.
 * - All stop soon after their signal aborts. None sends a request a second time because the first failed.
 */
export interface Tracker {
  readonly kind: string;
  fetchByStates(states: readonly string[], ask?: Ask): Promise<readonly Issue[]>;
  fetchByIds(ids: readonly string[], ask?: Ask): Promise<readonly Issue[]>;
  /** One read for a whole poll; absent where reading twice costs nothing. */
  readonly fetchSnapshot?: (wish: SnapshotWish, ask?: Ask) => Promise<Snapshot>;
  /** What was said on an issue, for whoever works on it; absent where nothing can be said. */
  readonly fetchComments?: (id: string, ask?: Ask) => Promise<IssueComments>;
  /** How short requests to it are just now; absent where nothing is sent. */
  readonly pressure?: () => RequestPressure;
  /** Tools of the tracker's own for agents, such as `linear_graphql`. Bound to its settings; nothing can widen them. */
  readonly nativeTools?: readonly NativeTool[];
  /** Null where Baton cannot change anything in this tracker; agents then use the tracker's own tools. */
  readonly changes: TrackerChanges | null;
  /** Where people change issues through Baton; absent where they do that in the tracker itself. */
  readonly desk?: IssueDesk;
  /** The move that Baton makes itself when it starts work on an issue; without it that is the agent's business. */
  readonly startMove?: StartMove;
  /** It is on this machine and costs nothing to read: it is looked at every few seconds, whatever the poll interval. */
  readonly isLocal?: boolean;
}

/** Who asks, and how he says that he does not want to know any more. */
export interface Ask {
  readonly signal?: AbortSignal;
  readonly caller?: RequestCaller;
  /** Called after each part of a long read: whoever waits may see by it that the tracker still answers. */
  readonly onProgress?: () => void;
}

export interface SnapshotWish {
  readonly states: readonly string[];
  /** Ids that must be as they are now, whatever their state: of issues that are claimed. */
  readonly watched: readonly string[];
  /** Ids that are worth knowing where it costs no request: any of them may be missing in the answer. */
  readonly welcome?: readonly string[];
}

export interface Snapshot {
  /** As by `fetchByStates`. */
  readonly issues: readonly Issue[];
  /** Every watched id, and the welcome ones that were read; null: it does not exist any more. */
  readonly watched: ReadonlyMap<string, Issue | null>;
  /** Which of `issues` were read just now; the others are as an earlier read found them. Absent: all of them. */
  readonly seen?: ReadonlySet<string>;
  /** Why some watched issues are missing in `watched` although everything else could be read. */
  readonly watchedProblem?: BatonError | null;
}

export interface IssueComments {
  /** Newest last. */
  readonly comments: readonly IssueComment[];
  /** Whether there are earlier ones, which were left out. */
  readonly hasEarlier: boolean;
}

export interface IssueComment {
  /** What people call the author: for showing, as anybody may take any name. Null: the tracker does not tell. */
  readonly author: string | null;
  /** As `authorNames` of an issue. */
  readonly authorNames: readonly string[];
  /** UTC milliseconds. */
  readonly at: number | null;
  readonly body: string;
  /** How many characters of it were left out at its end. */
  readonly leftOut: number;
}

/** A tool that speaks the tracker's own language with Baton's credential. */
export interface NativeTool extends ToolDescription {
  /** Whether what it is asked with this may change something; absent: it changes nothing. */
  readonly mayChange?: (input: unknown) => boolean;
  /** Never rejects: a failure is an answer. It never asks twice. */
  call(input: unknown, ask: Ask): Promise<ToolAnswer>;
}

/**
 * What Baton may change in a tracker on behalf of a run, through `tools/`. A move that the rules of the tracker forbid
 * rejects with `board_move_refused`.
 */
export interface TrackerChanges {
  moveIssue(id: string, state: string, author: Author, ask?: Ask): Promise<Issue>;
  addComment(id: string, body: string, author: Author, ask?: Ask): Promise<void>;
}

/**
 * Changes of issues that people ask for by commands: the tracker decides what is allowed. Each gives the identifier of the
 * issue; carried out a second time with the same command, it changes nothing more.
 */
export interface IssueDesk {
  /** Every state there is. */
  readonly states: readonly string[];
  /** Where a person may move an issue from this state, every other state included with why not. */
  movesFrom(state: string): readonly IssueMove[];
  move(issue: string, to: string, by: DeskOrder): Promise<string>;
  comment(issue: string, text: string, by: DeskOrder): Promise<string>;
  file(fields: Readonly<Record<string, unknown>>, by: DeskOrder): Promise<string>;
  edit(issue: string, fields: Readonly<Record<string, unknown>>, by: DeskOrder): Promise<string>;
}

export interface IssueMove {
  readonly to: string;
  /** Null: the move is allowed. */
  readonly whyNot: string | null;
}

export interface DeskOrder {
  /** The command that asks for it. */
  readonly commandId: string;
  readonly author: Author;
  readonly reason: string | null;
}
