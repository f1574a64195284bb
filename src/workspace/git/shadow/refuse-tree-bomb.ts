import type { Git, GitCall } from '../git.ts';

/** The names of about a million files. */
const mostNameBytes = 64 * 1024 * 1024;

/**
 * Rejects when a commit of an agent has more files than any work tree. Ten trees that each contain the next one ten times
 * are a few hundred bytes but ten thousand million files, and git would make an index of them in memory. Listing them
 * needs no memory, and ends at the limit or the timeout. A commit never changes, so one that passed is not listed again.
 */
export async function refuseTreeBomb(git: Git, call: Omit<GitCall, 'args'>, commit: string): Promise<void> {
  const { passed, underWay } = listings.get(git) ?? { passed: new Set(), underWay: new Map() };
  listings.set(git, { passed, underWay });
  if (passed.has(commit)) return;
  const { gitDir, borrowed = [], timeoutMs } = call;
  const key = [commit, ...borrowed].join('\0');
  const known = underWay.get(key);
  if (known !== undefined) return known;
  const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit];
  const listing = git.run({ gitDir, borrowed, timeoutMs, args, maxOutputBytes: mostNameBytes }).then(() => {
    if (passed.size >= mostKept) passed.delete(passed.values().next().value ?? '');
    passed.add(commit);
  });
  underWay.set(key, listing);
  await listing.finally(() => underWay.delete(key));
}

interface Listings {
  readonly passed: Set<string>;
  /** The examination and the publication of a workspace ask at the same time, and share the answer. */
  readonly underWay: Map<string, Promise<void>>;
}

const mostKept = 1_000;
const listings = new WeakMap<Git, Listings>();
