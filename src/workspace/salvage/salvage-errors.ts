import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { type BytePath, fromBytePath } from '../walk-folders.ts';

/** Why work could not be saved, for programs: `details.problem` of `salvage_failed`. */
type UnsavedProblem =
  | 'too_many_repositories'
  | 'files_beside_repositories'
  | 'kept_elsewhere'
  | 'folder_unreadable'
  | 'strange_git'
  | 'git_directory_unreadable'
  | 'index_unreadable'
  | 'sparse_index'
  | 'objects_unreadable'
  | 'reference_refused'
  | 'saved_incompletely'
  | 'archive_failed'
  | 'failed';

/** The reason completes the sentence "Failed to save the work: …". */
export function unsaved(problem: UnsavedProblem, reason: string, cause?: unknown): BatonError {
  const message = `Failed to save the work: ${reason}.`;
  return new BatonError('salvage_failed', message, { cause, details: { problem } });
}

/** A path of bytes for people. */
export function shownPath(path: BytePath): string {
  return harmlessLine(fromBytePath(path).toString('utf8')) || '.';
}
