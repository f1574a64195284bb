/*
 * Texts that the diff format of git fixes word for word (git-diff(1), "Generating patch text"). Programs read them, so
 * they must not be reworded.
 */

/** The last line of a file that does not end with a line break. */
export const noNewlineAtEnd = '\\ No newline at end of file\n';
