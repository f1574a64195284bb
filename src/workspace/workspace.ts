import type { Issue } from '../core/issue.ts';

/**
 * The seam to where a ticket's files live (specification 9). What must hold:
 *
 * - One directory an issue, always a direct child of the root, made once and reused untouched.
 * - `after_create` runs only in a directory just made; when it fails the directory is removed, so that it runs again.
 * - `before_run` fails the attempt, `after_run` never does, and runs after every end.
 * - `before_remove` runs only before a directory that is really removed, and never keeps it from being removed.
 * - What could hold work that is nowhere else is never removed (law 8); a removal once begun is finished, also after a
 *   crash.
 * - No hook sees a tracker secret; ticket text reaches it only as environment variables, never as shell text.
 */
export interface Workspaces {
  prepare(visit: WorkspaceVisit): Promise<Workspace>;
  beforeRun(workspace: Workspace, visit: WorkspaceVisit): Promise<void>;
  afterRun(workspace: Workspace, visit: WorkspaceVisit): Promise<void>;
  /** Where the workspace of this identifier is, or would be. Throws like `prepare` for identifiers that have none. */
  pathOf(identifier: string): string;
  /** Whether there is something at this path that `remove` would have to do with. Never rejects: in doubt it says yes. */
  isThere(path: string): Promise<boolean>;
  /**
   * Removes the workspace of an issue that is over; what could hold work that is nowhere else is kept. Never rejects for
   * what it finds there: it tells. Whoever calls it holds the issue: no process of a run is left, and none starts before
   * this has settled.
   */
  remove(place: WorkspacePlace, visit: RemovalVisit): Promise<Removal>;
  /** Finishes the removals below a root that a daemon before this one began. Never rejects; logs what it did. */
  finishRemovals(root: string): Promise<void>;
  /**
   * A digest of what is in a workspace, by which two looks tell whether anything changed in between: names, types, sizes,
   * times of files, and what git's references say. Null when it could not be seen completely. Never rejects.
   */
  fingerprint(path: string): Promise<string | null>;
}

export interface Workspace {
  /** Absolute and free of symbolic links. */
  readonly path: string;
  /** Whether this visit made it. */
  readonly created: boolean;
}

/** One run's visit to a workspace. */
export interface WorkspaceVisit {
  readonly issue: Issue;
  readonly runId: string;
  readonly attempt: number | null;
  readonly signal?: AbortSignal;
}

/** A workspace as it was written down. Its root need not be the one of today. */
export interface WorkspacePlace {
  readonly path: string;
  /** The identifier that the directory was named after; the issue may have another by now. */
  readonly identifier: string;
}

/** For whom a workspace is removed. What is not known any more is null. */
export interface RemovalVisit {
  readonly issue: Pick<Issue, 'id' | 'identifier' | 'title'>;
  /** The last run in it. */
  readonly runId: string | null;
  readonly attempt: number | null;
  /** Gives the removal up as long as nothing is removed. */
  readonly signal?: AbortSignal;
}

export type Removal =
  | { readonly outcome: 'removed' }
  | { readonly outcome: 'absent' }
  /** The reason completes the sentence "The workspace is kept: …". */
  | { readonly outcome: 'kept'; readonly reason: string };
