import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../../core/baton-error.ts';
import { quietFetch } from '../git.ts';
import type { SourceHeads } from '../source/read-source.ts';
import { sourceAddress } from '../source/source-address.ts';
import type { FetchFailure } from '../source/source-errors.ts';
import type { CacheParts } from './cache.ts';

/** Fetches branches that the source has at these commits. Null when it went well. */
export async function fetchInto(
  gitDir: string,
  commits: ReadonlyMap<string, string>,
  signal: AbortSignal,
  { git, repo }: CacheParts,
): Promise<FetchFailure | null> {
  const branches = [...commits.keys()];
  const before = await Promise.all(branches.map((branch) => keptCommit(gitDir, branch)));
  const wanted = branches.map((branch) => `+refs/heads/${branch}:${keptName(branch)}`);
  const { url, secretSettings } = sourceAddress(repo);
  const { code, stderr } = await git.ask({
    args: [...quietFetch, '--', url, ...wanted],
    gitDir,
    secretSettings,
    // One file with everything, instead of one for each object that has to reach the disk.
    settings: ['fetch.unpackLimit=1'],
    network: true,
    signal,
  });
  if (code !== 0) return { said: stderr || `exit code ${code}`, isShallow: false };
  const after = await Promise.all(branches.map((branch) => keptCommit(gitDir, branch)));
  // Git silently skips branches that a source with a cut history cannot send whole; the copy here is then old.
  const left = branches.find((branch, index) => after[index] === before[index] && after[index] !== commits.get(branch));
  return left === undefined ? null : { said: `nothing, and ${left} was not handed over`, isShallow: true };
}

/** By its hash: a branch `a` that became `a/b` in the source is not in the way of itself. */
function keptName(branch: string): string {
  return `refs/baton/${createHash('sha256').update(branch).digest('hex')}`;
}

async function keptCommit(folder: string, branch: string): Promise<string | null> {
  const text = await readFile(path.join(folder, keptName(branch)), 'latin1').catch(() => '');
  return /^([0-9a-f]{40,64})\n?$/.exec(text)?.[1] ?? null;
}

/** The branches that the source has elsewhere than they are here. */
export async function notThere({ commits }: SourceHeads, folder: string): Promise<ReadonlyMap<string, string>> {
  const missing = new Map<string, string>();
  for (const [branch, commit] of commits) {
    if ((await keptCommit(folder, branch)) !== commit) missing.set(branch, commit);
  }
  return missing;
}

/** As they are here now: the source may have moved on between the question and the fetch. */
export async function keptCommits({ commits }: SourceHeads, folder: string): Promise<Map<string, string>> {
  const kept = new Map<string, string>();
  for (const branch of commits.keys()) {
    const commit = await keptCommit(folder, branch);
    if (commit === null) throw new BatonError('git_failed', `The cache ${folder} has not got the branch ${branch}.`);
    kept.set(branch, commit);
  }
  return kept;
}
