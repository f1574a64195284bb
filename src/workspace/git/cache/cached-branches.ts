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
  { base, baseReference }: SourceHeads,
  commits: ReadonlyMap<string, string>,
  signal: AbortSignal,
  { git, repo }: CacheParts,
): Promise<FetchFailure | null> {
  const branches = [...commits.keys()];
  const before = await Promise.all(branches.map((branch) => keptCommit(gitDir, branch)));
  const referenceOf = (branch: string): string => (branch === base ? baseReference : `refs/heads/${branch}`);
  const wanted = branches.map((branch) => `+${referenceOf(branch)}:${keptName(branch)}`);
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
  return left === undefined ? null : { said: `nothing, but it left out the branch ${left}`, isShallow: true };
}

/** Named by a hash, so that `a` does not block `a/b` when the source renames the branch. */
function keptName(branch: string): string {
  return `refs/baton/${createHash('sha256').update(branch).digest('hex')}`;
}

async function keptCommit(folder: string, branch: string): Promise<string | null> {
  const text = await readFile(path.join(folder, keptName(branch)), 'latin1').catch(() => '');
  return /^([0-9a-f]{40,64})\n?$/.exec(text)?.[1] ?? null;
}

/** The branches whose commit in the source differs from the one here. */
export async function notThere({ commits }: SourceHeads, folder: string): Promise<ReadonlyMap<string, string>> {
  const missing = new Map<string, string>();
  for (const [branch, commit] of commits) {
    if ((await keptCommit(folder, branch)) !== commit) missing.set(branch, commit);
  }
  return missing;
}

/** The commits of the branches here. The source may have changed between the question and the fetch. */
export async function keptCommits({ commits }: SourceHeads, folder: string): Promise<Map<string, string>> {
  const kept = new Map<string, string>();
  for (const branch of commits.keys()) {
    const commit = await keptCommit(folder, branch);
    if (commit === null) throw new BatonError('git_failed', `The repository cache ${folder} has no branch ${branch}.`);
    kept.set(branch, commit);
  }
  return kept;
}
