import type { Git, GitCall } from '../git.ts';

/** As names: about a million files. */
const mostNameBytes = 64 * 1024 * 1024;

/**
 * Rejects when a commit of an agent holds more files than any work tree: ten trees that each hold ten times the next one
 * are a few hundred bytes and ten thousand million files, and git makes an index of them in memory. Listing them takes
 * none, and is ended by the bound or the time limit.
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
