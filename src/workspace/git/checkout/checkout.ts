import type { Publication } from '../../../core/run/run-evidence.ts';
import type { GitDirectory } from '../read/git-directory.ts';
import type { ObjectFormat } from '../shadow/shadow-git.ts';

/**
 * The seam to the workspaces that Baton fills from a repository (`workspace.strategy` worktree or clone). What must hold:
 *
 * - The base is fetched before each new branch; if that fails, the start fails instead of using an old base.
 * - No two workspaces share a git directory: neither hooks, configuration and locks nor branches of one agent reach
 *   another. A `worktree` borrows the objects of the cache and has its git directory in the state folder; a `clone` has
 *   everything inside the workspace.
 * - An existing branch that is not yet part of the base is continued; it is never moved back.
 * - A half-made checkout is made again from the beginning; locks of a killed run are removed. A deleted workspace is
 *   filled again from the agent's own commits, where its git directory still exists.
 * - The daemon runs no filter at a checkout: LFS files come as pointers. Submodules come as empty folders.
 */
export interface Checkouts {
  /** Fills a new directory. The caller has written its creation marker. */
  make(place: CheckoutPlace): Promise<Checkout>;
  /**
   * Fills a new directory from the git directory of a workspace that disappeared. False when nothing of that is left, or
   * it had no work.
   */
  revive(place: CheckoutPlace): Promise<boolean>;
  /** The checkout of a workspace that Baton filled; null for every other. Rejects when its record cannot be read. */
  find(workspace: string): Promise<Checkout | null>;
  /** Before a run, while no process works there: removes the locks of a killed run. Returns the removed files. */
  unlock(workspace: string): Promise<readonly string[]>;
  /**
   * The branch is about to be published, and the agent's git directory was just read: checks its commits and copies
   * their objects meanwhile. Moves nothing, and reports nothing: `publish` reads again, and does what this did not.
   */
  beginToPublish(workspace: string, directory: GitDirectory): void;
  /**
   * After a run: publishes the branch to the local repository that it came from. Never moves it backwards or over
   * another. Null for a workspace from a remote source: there the agent pushes.
   */
  publish(workspace: string): Promise<Publication | null>;
  /** Removes the files that Baton keeps for a workspace that is gone. */
  forget(workspace: string): Promise<void>;
}

export interface CheckoutPlace {
  /** Absolute; an empty directory. */
  readonly workspace: string;
  readonly branch: string;
  readonly signal?: AbortSignal;
}

/** A workspace that Baton filled, as its record describes it. */
export interface Checkout {
  readonly workspace: string;
  readonly strategy: 'worktree' | 'clone';
  /** The source of the checkout, without user and password. */
  readonly repository: string;
  readonly branch: string;
  /** The base branch and its commit. */
  readonly base: string;
  readonly baseCommit: string;
  /**
   * The commit of the branch in the local repository as Baton last saw or set it; null when the branch is not there.
   */
  readonly published: string | null;
  readonly objectFormat: ObjectFormat;
  readonly gitDir: string;
  /** The folder of its shadow git directory. */
  readonly shadow: string;
  /** The object directories that its git directory borrows from. */
  readonly borrowed: readonly string[];
  /** Files that `workspace.copy` copied, as patterns for `info/exclude`. */
  readonly excludes: readonly string[];
}
