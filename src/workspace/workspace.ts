import type { CommitLine } from '../core/command/message-text.ts';
import type { Issue } from '../core/issue/issue.ts';
import type { TakenArtifact } from '../core/pipeline/completion.ts';
import type { GitEvidence, Publication } from '../core/run/run-evidence.ts';

/**
 * The seam to the files of an issue (specification 9). What must hold:
 *
 * - One directory per issue, always a direct child of the root, created once and reused unchanged.
 * - `after_create` runs only in a directory just made; when it fails the directory is removed, so that it runs again.
 * - `before_run` fails the attempt, `after_run` never does, and runs after every end.
 * - `before_remove` runs in a workspace that is about to be removed, and never prevents the removal. The files it makes
 *   are saved like all other work.
 * - Work that is nowhere else is saved before its workspace is removed, and read back from where it was saved; unsaved
 *   work is not removed (law 8). A removal once begun is finished, also after a crash.
 * - No hook sees a tracker secret; issue text reaches it only as environment variables, never as shell text.
 */
export interface Workspaces {
  prepare(visit: WorkspaceVisit): Promise<Workspace>;
  beforeRun(workspace: Workspace, visit: WorkspaceVisit): Promise<void>;
  /** Makes a folder of the workspace that git ignores, with everything in it. Rejects when something else is there. */
  keepOut(workspace: Workspace, folder: string): Promise<void>;
  /**
   * The text of a file that an agent wrote, at a path inside its workspace. It follows no link out of the workspace. Never
   * rejects: it says why there is no text.
   */
  readFile(path: string, relative: string, mostBytes: number): Promise<TakenArtifact>;
  /** Right before the launch: rejects unless the agent's directory is still the workspace of its issue. */
  verify(workspace: Workspace, visit: WorkspaceVisit): Promise<void>;
  /**
   * Commits the files that the agent left uncommitted, on the branch of the workspace, while no process works there.
   * Returns the commit; null when there is none. Never rejects; logs why.
   */
  commitRest(workspace: Workspace, visit: RemovalVisit): Promise<string | null>;
  /**
   * Runs the hook, then publishes the branch. Returns the result, or null for a workspace without a branch to publish.
   */
  afterRun(workspace: Workspace, visit: WorkspaceVisit): Promise<Publication | null>;
  /**
   * Publishes the agent's commits to the local repository that the workspace came from, as `afterRun` does: for a run
   * whose end no daemon handled. Never rejects; returns the result and logs it.
   */
  bringHome(path: string, visit: RemovalVisit): Promise<Publication | null>;
  /** Where the workspace of this identifier is, or would be. Throws like `prepare` for identifiers that have none. */
  pathOf(identifier: string): string;
  /**
   * Whether `remove` would have something to do at this path: the directory exists, or Baton still keeps files of one
   * that disappeared. Never rejects: in doubt it returns true.
   */
  isThere(path: string): Promise<boolean>;
  /**
   * Removes the workspace of a finished issue, once its work is saved; a workspace that cannot be saved is kept. Never
   * rejects because of the workspace's content: it reports. The caller holds the issue: no process of a run is left,
   * and none starts before this has settled.
   */
  remove(place: WorkspacePlace, visit: RemovalVisit): Promise<Removal>;
  /** Finishes the removals below a root that a previous daemon began. Never rejects; logs the results. */
  finishRemovals(root: string): Promise<void>;
  /**
   * The current state of a workspace; with `commits` also the newest of those beyond the base, at most this many. `into`
   * is the branch that its change goes into, where that is decided. With `publishes` a turn has ended and `afterRun` may
   * come next: meanwhile it begins to check and to copy the commits of the branch, and moves no branch. Null when it could
   * not be read completely. Never rejects.
   */
  examine(
    path: string,
    more?: { readonly commits?: number; readonly into?: string | null; readonly publishes?: boolean },
  ): Promise<WorkspaceFacts | null>;
  /** The workspaces below a root, in the order of their names, and the leftovers of removals. */
  list(root: string, options?: { readonly sizes?: boolean }): Promise<readonly WorkspaceEntry[]>;
}

export interface Workspace {
  /** Absolute and free of symbolic links. */
  readonly path: string;
  readonly created: boolean;
  /** The agent's git directory where it lies outside of the workspace; the agent writes there too. */
  readonly gitDir: string | null;
}

export interface WorkspaceFacts {
  /**
   * A digest that shows whether anything changed between two examinations. In a git repository: the references, and the
   * names and contents of the files that differ from HEAD, ignored files left out. Elsewhere: names, types, sizes and
   * times.
   */
  readonly fingerprint: string;
  /** Null where the workspace is not a git repository. */
  readonly git: GitEvidence | null;
  /** Where they were asked for: the commits beyond the base, the newest first. */
  readonly commits?: readonly CommitLine[];
  /** With the commits: the branch that its change goes into. */
  readonly base?: string;
  /** The reference of that branch in the repository, where it is not the base that the checkout came from. */
  readonly baseReference?: string;
  /** With the commits: where others moved the branch in the local repository, when the workspace lacks that commit. */
  readonly movedTo?: string;
}

export interface WorkspaceEntry {
  readonly key: string;
  readonly path: string;
  /** `making` and `removing` are unfinished operations. */
  readonly state: 'whole' | 'making' | 'removing';
  /** Disk space; files with several names count once. Null when not everything could be read. */
  readonly bytes: number | null;
  /** The latest change of the directory itself. */
  readonly changedAt: number;
}

export interface WorkspaceVisit {
  readonly issue: Issue;
  readonly runId: string;
  readonly attempt: number | null;
  /** The branch of a new checkout; an existing workspace keeps its own. */
  readonly branch: string;
  readonly signal?: AbortSignal;
}

/** A recorded workspace. Its root need not be the current one. */
export interface WorkspacePlace {
  readonly path: string;
  /** The identifier that the directory was named after; the issue may have another by now. */
  readonly identifier: string;
}

/** For which issue and run a workspace is removed. Unknown values are null. */
export interface RemovalVisit {
  readonly issue: Pick<Issue, 'id' | 'identifier' | 'title'>;
  /** The last run in it. */
  readonly runId: string | null;
  readonly attempt: number | null;
  /** Cancels the removal while nothing is removed yet. */
  readonly signal?: AbortSignal;
}

export type Removal =
  | { readonly outcome: 'removed'; readonly saved: readonly SavedName[] }
  | { readonly outcome: 'absent' }
  | Kept;

export type Kept = { readonly outcome: 'kept' } & WhyKept;

/** Why a workspace is not removed. The reason completes the sentence "The workspace is kept: …". */
export interface WhyKept {
  readonly code: KeptCode;
  readonly reason: string;
}

type KeptCode =
  // about its path
  | 'path_not_absolute'
  | 'below_file_system_root'
  | 'path_of_another'
  | 'holds_root'
  | 'inside_another'
  | 'holds_home'
  | 'root_away'
  // about the entry itself
  | 'symbolic_link'
  | 'not_a_directory'
  | 'other_owner'
  | 'other_file_system'
  | 'odd_git_file'
  | 'replaced'
  // about its removal
  | 'given_up'
  | 'unsaved'
  | 'rest_left'
  | 'failed';

export interface SavedName {
  readonly name: string;
  readonly files: number;
  readonly commits: number;
  /** The whole command line that restores it. */
  readonly restore: string;
}
