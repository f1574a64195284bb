import type { Issue } from '../core/issue.ts';

/**
 * The seam to where a ticket's files live (specification 9). What must hold:
 *
 * - One directory an issue, always a direct child of the root, made once and reused untouched.
 * - `after_create` runs only in a directory just made; when it fails the directory is removed, so that it runs again.
 * - `before_run` fails the attempt, `after_run` never does, and runs after every end.
 * - No hook sees a tracker secret; ticket text reaches it only as environment variables, never as shell text.
 */
export interface Workspaces {
  prepare(visit: WorkspaceVisit): Promise<Workspace>;
  beforeRun(workspace: Workspace, visit: WorkspaceVisit): Promise<void>;
  afterRun(workspace: Workspace, visit: WorkspaceVisit): Promise<void>;
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
