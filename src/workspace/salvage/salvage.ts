import type { Issue } from '../../core/issue/issue.ts';

/**
 * The seam to saved work (law 8). What must hold:
 *
 * - After `save` has resolved, every byte of a tracked or untracked file that is not ignored, and every commit that the
 *   workspace had and its repository lacks, is in a repository that outlives the workspace, was read back from there, and
 *   is on the disk. When any of that is in doubt it rejects, and nothing may be removed.
 * - Saving the same work again makes no second entry.
 * - Nothing here ever changes the workspace.
 * - Saved work is found by its name `<workspace key>/<run>`, and by the issue.
 * - Several projects may save into one repository. Each project lists and drops only its own work; it can list that of
 *   another project on request. Work that was saved in a person's repository
 *   before projects were recorded is visible to every project, and is not dropped by its age.
 */
export interface Salvage {
  save(request: SalvageRequest): Promise<SaveResult>;
  /** Newest first. */
  list(reach?: SalvageReach): Promise<readonly SavedWork[]>;
  /** By its name, or the newest of an issue or workspace key; rejects with `salvage_not_found`. */
  find(wanted: string, reach?: SalvageReach): Promise<SavedWork>;
  /** The changes against the commit that the work is based on, as text. */
  diff(work: SavedWork, options: { readonly stat: boolean }): Promise<string>;
  /**
   * Restores the work into a new folder: the commits, the branches, and the uncommitted, staged and conflicting
   * changes, each in its former state. Rejects with `restore_refused` when the folder is not empty.
   */
  restore(work: SavedWork, folder: string): Promise<RestoreResult>;
  /** Drops saved work. A later `tidy` frees its space. Rejects with `salvage_not_found` for another project's. */
  drop(work: SavedWork): Promise<void>;
  /** Frees the space of work that was dropped two weeks ago or earlier, in Baton's own repositories only. */
  tidy(): Promise<void>;
  /** The disk space that only these entries need; null when git cannot tell. */
  measure(works: readonly SavedWork[]): Promise<number | null>;
}

export interface SalvageReach {
  /** Also the work that other projects saved in the same repositories. */
  readonly allProjects: boolean;
}

export interface SalvageRequest {
  /** The current path of the files, which a removal has renamed. */
  readonly folder: string;
  /** The original path of the workspace. */
  readonly workspace: string;
  readonly issue: Pick<Issue, 'id' | 'identifier' | 'title'>;
  /** The last run in it; null when it is unknown. */
  readonly runId: string | null;
  readonly signal?: AbortSignal;
}

export type SaveResult =
  /** All of its work exists elsewhere. */
  | { readonly outcome: 'nothing' }
  /** It has no repository, and the settings do not archive it. */
  | { readonly outcome: 'not_wanted' }
  /** One for each repository in the workspace that had unsaved work. */
  | { readonly outcome: 'saved'; readonly works: readonly SavedWork[] };

export interface SavedWork {
  /** `<workspace key>/<run>`; further repositories in the workspace add `+<number>`. */
  readonly name: string;
  readonly kind: 'commit' | 'archive';
  /** The project that saved it; null for work saved in a person's repository before that was recorded. */
  readonly project: string | null;
  readonly issueId: string;
  readonly issueIdentifier: string;
  readonly issueTitle: string;
  readonly runId: string | null;
  readonly workspace: string;
  /** The path of the repository in the workspace; empty for its root. */
  readonly within: string;
  /** Milliseconds since 1970. */
  readonly savedAt: number;
  /** The repository and the reference there, or the file of the archive. */
  readonly repository: string;
  readonly reference: string | null;
  readonly commit: string | null;
  /** The branch and the commit of the agent's HEAD. */
  readonly branch: string | null;
  readonly head: string | null;
  /** How many files differ from that commit, and how many commits were nowhere else. */
  readonly files: number;
  readonly commits: number;
  /** How many files were staged, and how many of them differ from the saved ones; null when they were not counted. */
  readonly stagedFiles: number | null;
  readonly stagedOtherwise: number | null;
  /** Changed files that control agents or CI; null: unreadable; missing where there are none, and for archives. */
  readonly governing?: readonly string[] | null;
}

export interface RestoreResult {
  readonly folder: string;
  readonly branch: string | null;
  readonly head: string | null;
  /** The staged tree, if git does not accept it in an index again; null when everything is restored. */
  readonly unstaged: string | null;
}
