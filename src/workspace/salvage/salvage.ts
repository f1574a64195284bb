import type { Issue } from '../../core/issue/issue.ts';

/**
 * The seam to saved work (law 8). What must hold:
 *
 * - After `save` has resolved, every byte of a tracked or untracked file that is not ignored, and every commit that the
 *   workspace had and its repository has not, is in a repository that outlives the workspace, was read back there, and is
 *   on the disk. When anything of that is in doubt it rejects, and nothing may be removed.
 * - Saving the same work again makes no second entry.
 * - Nothing here ever changes the workspace.
 * - A saved work is found by its name `<workspace key>/<run>`, and by the issue.
 * - Several projects may save into one repository. Each sees its own work, and only that can be dropped: what another one
 *   saved is found when it is asked for, and never goes. What was saved in a person's repository before projects were
 *   written down is everybody's to see, and does not go by its age.
 */
export interface Salvage {
  save(request: SalvageRequest): Promise<SaveResult>;
  /** Newest first. */
  list(reach?: SalvageReach): Promise<readonly SavedWork[]>;
  /** By its name, or the newest of an issue or workspace key; rejects with `salvage_not_found`. */
  find(wanted: string, reach?: SalvageReach): Promise<SavedWork>;
  /** What it changes against the commit it was made on, as text. */
  diff(work: SavedWork, options: { readonly stat: boolean }): Promise<string>;
  /**
   * Puts it into a new folder as it was: the commits, the branches, what was not committed as uncommitted changes, what was
   * staged as staged, and what was in conflict as in conflict. Rejects with `restore_refused` when the folder holds anything.
   */
  restore(work: SavedWork, folder: string): Promise<RestoreResult>;
  /** Drops saved work. Its space comes back with a later `tidy`. Rejects with `salvage_not_found` for another project's. */
  drop(work: SavedWork): Promise<void>;
  /** Gives back the space of what was dropped two weeks ago or earlier, in Baton's own repositories only. */
  tidy(): Promise<void>;
}

export interface SalvageReach {
  /** Also what other projects saved in the same repositories. */
  readonly allProjects: boolean;
}

export interface SalvageRequest {
  /** Where the files are now; a removal has renamed it by then. */
  readonly folder: string;
  /** Where the workspace was. */
  readonly workspace: string;
  readonly issue: Pick<Issue, 'id' | 'identifier' | 'title'>;
  /** The last run in it; null when nobody knows. */
  readonly runId: string | null;
  readonly signal?: AbortSignal;
}

export type SaveResult =
  /** There was nothing that is not elsewhere. */
  | { readonly outcome: 'nothing' }
  /** It holds no repository and is not to be archived. */
  | { readonly outcome: 'not_wanted' }
  /** One for each repository in the workspace that had something. */
  | { readonly outcome: 'saved'; readonly works: readonly SavedWork[] };

export interface SavedWork {
  /** `<workspace key>/<run>`; a second repository in the workspace has `+<number>` behind it. */
  readonly name: string;
  readonly kind: 'commit' | 'archive';
  /** Whose it is; null for what was saved in a person's repository before that was written down. */
  readonly project: string | null;
  readonly issueId: string;
  readonly issueIdentifier: string;
  readonly issueTitle: string;
  readonly runId: string | null;
  readonly workspace: string;
  /** Where in the workspace the repository was; empty for its root. */
  readonly within: string;
  /** Milliseconds since 1970. */
  readonly savedAt: number;
  /** The repository that has it and the reference there, or the archive's file. */
  readonly repository: string;
  readonly reference: string | null;
  readonly commit: string | null;
  /** The branch and the commit that the agent's HEAD named. */
  readonly branch: string | null;
  readonly head: string | null;
  /** How many files differ from that commit, and how many commits were nowhere else. */
  readonly files: number;
  readonly commits: number;
  /** How many files were staged, and how many of them otherwise than they are saved; null when nobody counted. */
  readonly stagedFiles: number | null;
  readonly stagedOtherwise: number | null;
}

export interface RestoreResult {
  readonly folder: string;
  readonly branch: string | null;
  readonly head: string | null;
  /** The tree that was staged, where git does not take it into an index again; null when all is as it was. */
  readonly unstaged: string | null;
}
