import type { BatonError } from '../core/baton-error.ts';
import type { StartMove } from '../core/dispatch/slots.ts';
import type { Author } from '../core/issue/author.ts';
import type { Blocker, Issue } from '../core/issue/issue.ts';
import type { PlannedChild } from '../core/planner/plan.ts';
import type { RequestCaller } from '../core/requests/request-caller.ts';
import type { RequestPressure } from '../core/requests/request-pressure.ts';
import type { KnownIssue } from '../core/task/proposal.ts';
import type { ToolAnswer, ToolDescription } from '../core/tool-set.ts';

/**
 * The seam to an issue tracker (specification 11.1). `test/conformance/tracker.ts` is its suite; every adapter runs it
 * unchanged. What must hold:
 *
 * - A read is complete or rejects with a BatonError of a `tracker_*` code: an error never counts as "no issues".
 * - `fetchByStates` returns every issue in one of the states, compared without regard to case, in a stable order. No
 *   states means no issues and no request. A malformed record is left out and counted in the log.
 * - `fetchByIds` returns full records in the requested order, each id once; an id that is missing in the result no
 *   longer exists. No ids means no request. A malformed record that was requested fails the whole call.
 * - `fetchSnapshot`, where there is one, returns what `fetchByStates` and `fetchByIds` would together, with fewer
 *   requests. It may keep earlier results and request only changes; watched issues are current, and `seen` says which
 *   of the others are.
 * - `fetchComments`, where there is one, returns the comments on an issue, newest last and bounded
 *   (latest-comments.ts). An author has the names by which a workflow file may trust them, or none; a comment of a run
 *   has none, unless the tracker shows it under a person's name. An id that does not exist rejects with
 *   `tracker_issue_not_found`.
 * - A read that was not sent because of request limits rejects with `tracker_rate_limited`; `details.step` is then the
 *   pressure, and `details.until` the time to try again. A refusal of the service itself has no step.
 * - All stop soon after their signal aborts. None repeats a request because the first one failed.
 */
export interface Tracker {
  readonly kind: string;
  fetchByStates(states: readonly string[], ask?: Ask): Promise<readonly Issue[]>;
  fetchByIds(ids: readonly string[], ask?: Ask): Promise<readonly Issue[]>;
  /** One read for a whole poll; absent where two reads cost nothing. */
  readonly fetchSnapshot?: (request: SnapshotRequest, ask?: Ask) => Promise<Snapshot>;
  /** The comments on an issue, for the agent that works on it; absent where the tracker has no comments. */
  readonly fetchComments?: (id: string, ask?: Ask) => Promise<IssueComments>;
  /**
   * The newest issues that are not finished, in any state, for one who looks for an issue that asks for the same. It costs at
   * most one request. Absent where `editor` names every state.
   */
  readonly fetchOpen?: (ask?: Ask) => Promise<readonly KnownIssue[]>;
  /** The children of each of these issues, as they are now; absent where issues have no parts. */
  readonly fetchChildren?: (ids: readonly string[], ask?: Ask) => Promise<ReadonlyMap<string, readonly Blocker[]>>;
  /**
   * The issues of the backlog that Baton may start by itself, in the order of their start: no person moved them to the
   * backlog, and their blockers are finished. Absent where there is no such backlog.
   */
  readonly fetchPromotable?: (page: Page, ask?: Ask) => Promise<readonly Issue[]>;
  /**
   * Everyone who wrote the title or the description of an issue, each by the names of `authorNames`; a writer that the
   * tracker does not name has none. Absent where `authorNames` of an issue says it all.
   */
  readonly fetchWriters?: (id: string, ask?: Ask) => Promise<readonly (readonly string[])[]>;
  /** How close the requests are to their limits; absent where nothing is sent. */
  readonly pressure?: () => RequestPressure;
  /** The tracker's own tools for agents, such as `linear_graphql`. Bound to its settings; nothing can widen them. */
  readonly nativeTools?: readonly NativeTool[];
  /** Null where Baton cannot change anything in this tracker; agents then use the tracker's own tools. */
  readonly changes: TrackerChanges | null;
  /** Changes issues for people; absent where people change them in the tracker itself. */
  readonly editor?: IssueEditor;
  /** The move that Baton makes when it starts work on an issue; absent where the agent makes that move. */
  readonly startMove?: StartMove;
  /** The tracker is on this machine and free to read: Baton polls it every few seconds, whatever the poll interval. */
  readonly isLocal?: boolean;
}

/** Who asks, and the signal by which they cancel the request. */
export interface Ask {
  readonly signal?: AbortSignal;
  readonly caller?: RequestCaller;
  /** Called after each part of a long read, so that the caller sees that the tracker still answers. */
  readonly onProgress?: () => void;
  /** The run in whose name something is changed; without it a tool of the tracker changes nothing of one issue alone. */
  readonly run?: AskingRun;
}

export interface AskingRun {
  readonly issueId: string;
  /** Called before a text of the run is sent. Where it rejects, nothing is sent. */
  readonly onWrite: (text: WrittenText) => Promise<void>;
  /** Whether a label tells Baton what to do: only people set or remove it. Absent: no label does. */
  readonly steers?: (label: string) => boolean;
}

/** An issue, by its title or description, or a comment. */
export interface WrittenText {
  readonly kind: 'issue' | 'comment';
  /** The tracker's own id. */
  readonly id: string;
}

export interface SnapshotRequest {
  readonly states: readonly string[];
  /** Ids of claimed issues, which must be current whatever their state. */
  readonly watched: readonly string[];
  /** Ids that are useful where they cost no request: any of them may be missing in the result. */
  readonly welcome?: readonly string[];
}

export interface Snapshot {
  /** As by `fetchByStates`. */
  readonly issues: readonly Issue[];
  /** Every watched id, and the welcome ones that were read; null: the issue no longer exists. */
  readonly watched: ReadonlyMap<string, Issue | null>;
  /** The ids in `issues` that this read covered; the others are from an earlier read. Absent: all of them. */
  readonly seen?: ReadonlySet<string>;
  /** Why some watched issues are missing in `watched` although everything else could be read. */
  readonly watchedProblem?: BatonError | null;
}

export interface IssueComments {
  /** Newest last. */
  readonly comments: readonly IssueComment[];
  /** Whether earlier comments were left out. */
  readonly hasEarlier: boolean;
}

export interface IssueComment {
  /** The tracker's own id; absent where the tracker itself knows the comments of runs. */
  readonly id?: string;
  /**
   * The display name of the author. Not for trust, because anyone may take any name. Null: the tracker does not say.
   */
  readonly author: string | null;
  /** As `authorNames` of an issue. */
  readonly authorNames: readonly string[];
  /** UTC milliseconds. */
  readonly at: number | null;
  readonly body: string;
  /** Written by a run or by Baton itself, as far as the tracker or Baton knows. */
  readonly isByRun?: boolean;
  /** How many characters were cut from its end. */
  readonly leftOut: number;
}

/** A tool that uses the tracker's own API with Baton's credential. */
export interface NativeTool extends ToolDescription {
  /** Whether a call with this input may change something; absent: it changes nothing. */
  readonly mayChange?: (input: unknown) => boolean;
  /** How many comments, issues and the like a call with this input may write; absent: none. They count as comments. */
  readonly writesIn?: (input: unknown) => number;
  /** Never rejects: a failure is an answer. Sends its request at most once. */
  call(input: unknown, ask: Ask): Promise<ToolAnswer>;
}

/**
 * The changes that Baton may make in a tracker, for a run through `tools/` or for itself. Each is written at most once:
 * a failed write is never repeated here.
 */
export interface TrackerChanges {
  /** Rejects with `board_move_refused` when the rules of the tracker forbid the move, or the issue has left `from`. */
  moveIssue(id: string, state: string, author: Author, ask?: MoveAsk): Promise<Issue>;
  addComment(id: string, body: string, author: Author, ask?: Ask): Promise<void>;
  /**
   * Adds and removes labels; the others stay, also those that someone else changes meanwhile. A label that the tracker
   * does not have, and that has to exist there before, rejects with `tracker_label_unknown`; `details.labels` has all of
   * these, and nothing is written.
   */
  changeLabels(id: string, change: LabelChange, author: Author, ask?: Ask): Promise<Issue>;
  /**
   * Creates an issue of its own. With a key that was used before nothing is created, and that issue is the answer. Absent
   * where only people create issues.
   */
  readonly createIssue?: (issue: NewIssue, author: Author, ask?: Ask) => Promise<Issue>;
  /**
   * Makes all these children under their own ids, each with what it waits for, and lets the parent wait for them: they
   * block it, and it moves to the state for blocked issues. Finishes what an earlier call began, and makes nothing twice.
   * Absent where the tracker has no parts of issues (`TrackerProfile.makesChildren`).
   */
  createChildren?(plan: ChildrenPlan, author: Author, ask?: Ask): Promise<readonly Issue[]>;
}

export interface ChildrenPlan {
  readonly parentId: string;
  /** Each comes after those that it waits for. */
  readonly children: readonly Pick<
    PlannedChild,
    'id' | 'title' | 'description' | 'priority' | 'labels' | 'blockedBy'
  >[];
  /** The states of new children and of the parent, by the tracker's own names. */
  readonly states: { readonly todo: string; readonly blocked: string };
}

export interface MoveAsk extends Ask {
  /** The state that the issue must still be in. An issue that is already where it should go is no refusal. */
  readonly from?: string;
  /** For the history, where the tracker keeps one. */
  readonly reason?: string;
}

export interface LabelChange {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

export interface NewIssue {
  readonly key: string;
  readonly title: string;
  readonly description: string;
  readonly priority: number | null;
  /** A label that the tracker does not have is left out. */
  readonly labels: readonly string[];
  /** Absent: where new issues begin in this tracker. */
  readonly state?: string;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/**
 * Changes of issues that people request by commands; the tracker decides what is allowed. Each returns the identifier
 * of the issue. A second call with the same command changes nothing more.
 */
export interface IssueEditor {
  readonly states: readonly string[];
  /** Every other state, with the reason where a person may not move an issue there from this state. */
  movesFrom(state: string): readonly IssueMove[];
  /** The id of the issue with this name; rejects when there is none. */
  idOf(issue: string): Promise<string>;
  /** `issue` in the answers is the identifier. */
  move(issue: string, to: string, by: CommandOrigin): Promise<{ readonly issue: string; readonly moved: boolean }>;
  comment(
    issue: string,
    text: string,
    by: CommandOrigin,
  ): Promise<{ readonly issue: string; readonly seq: number; readonly at: number }>;
  /** Nothing is created when an issue was filed with the same key before. */
  file(
    fields: Readonly<Record<string, unknown>>,
    by: CommandOrigin,
  ): Promise<{ readonly issue: string; readonly created: boolean }>;
  edit(issue: string, fields: Readonly<Record<string, unknown>>, by: CommandOrigin): Promise<string>;
}

export interface IssueMove {
  readonly to: string;
  /** Null: the move is allowed. */
  readonly whyNot: string | null;
}

export interface CommandOrigin {
  /** The command that requested the change. */
  readonly commandId: string;
  readonly author: Author;
  readonly reason: string | null;
}
