import type { Git, GitCall } from '../git.ts';

/** The names of about a million files. */
const mostNameBytes = 64 * 1024 * 1024;

/**
 * Rejects when a commit of an agent has more files than any work tree. Ten trees that each contain the next one ten times
 * are a few hundred bytes but ten thousand million files, and git would make an index of them in memory. Listing them
 * needs no memory, and ends at the limit or the timeout.
 */
export async function refuseTreeBomb(git: Git, call: Omit<GitCall, 'args'>, commit: string): Promise<void> {
  const { gitDir, borrowed = [], timeoutMs } = call;
  await git.run({
    gitDir,
    borrowed,
    timeoutMs,
    args: ['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit],
    maxOutputBytes: mostNameBytes,
  });
}
