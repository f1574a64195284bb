import type { ObjectFormat } from '../shadow/shadow-git.ts';

/**
 * A git directory that an agent may have written, read as data: no git runs in it, nothing it names is executed, and
 * nothing is followed except as documented here. It reports what the files say; whether the commits exist is checked
 * later, through a shadow git directory. Its paths may be anywhere on the machine: a caller that lets content of it
 * leave the workspace first checks where they are (`place-outside.ts`).
 */
export interface GitDirectory {
  /** The folder with HEAD and index: `.git`, or the folder that a file `.git` names. */
  readonly folder: string;
  /** The folder with references and objects; another one in linked worktrees. */
  readonly common: string;
  readonly objectFormat: ObjectFormat;
  /** Its object directory and those it borrows from, each absolute; only those that exist. */
  readonly objects: readonly string[];
  /** The branch that HEAD names (`refs/heads/…`), or null when it is detached. */
  readonly headReference: string | null;
  /** The commit that HEAD leads to; null before the first commit. */
  readonly head: string | null;
  /** Every other name that holds something: references, and each entry of the stash. */
  readonly tips: readonly Tip[];
  /** Where HEAD has been, newest first, each commit once: a commit without a name may still be there. */
  readonly past: readonly string[];
  /** The commits whose parents were not fetched. */
  readonly shallow: readonly string[];
}

export interface Tip {
  /**
   * `refs/heads/x`, or `stash@{1}`, or `ORIG_HEAD`-like names that hold commits. Text; the bytes of a name that is none
   * are written as `%FF`.
   */
  readonly name: string;
  readonly id: string;
}
