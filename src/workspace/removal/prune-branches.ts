import type { PublishedBranch } from '../../core/prune.ts';
import type { RepositorySettings } from '../../core/settings.ts';
import type { Git } from '../git/git.ts';
import { findCommonDirectory, readBranch, readBranches } from '../git/source/source-repository.ts';
import type { SalvageParts } from '../salvage/salvage-parts.ts';
import { saveBranch } from '../salvage/save-branch.ts';

export interface BranchParts extends Pick<SalvageParts, 'clock' | 'git' | 'logger' | 'project'> {
  readonly repo: RepositorySettings | null;
}

/** Those that the local repository still has, at the commit that Baton published last. */
export async function standingBranches(
  published: readonly PublishedBranch[],
  { git, repo }: Pick<BranchParts, 'git' | 'repo'>,
): Promise<readonly PublishedBranch[]> {
  if (repo === null || !repo.isLocal || published.length === 0) return [];
  const common = await findCommonDirectory(git, repo.location);
  const names = published.map(({ branch }) => branch);
  const now = await readBranches(git, common, names);
  return published.filter(({ branch, base, commit }) => branch !== base && now.get(branch) === commit);
}

/**
 * Deletes a branch of a finished issue. What must hold: a commit that the base lacks is saved before; a branch that is
 * checked out, or that someone moves meanwhile, stays. Returns whether it is gone.
 */
export async function deleteBranch(
  ended: PublishedBranch & { readonly title: string },
  parts: BranchParts,
): Promise<boolean> {
  const { git, repo } = parts;
  if (repo === null || !repo.isLocal) return false;
  const common = await findCommonDirectory(git, repo.location);
  const { branch, base, commit } = ended;
  const { commit: now, usedIn } = await readBranch(git, common, branch);
  if (now !== commit || usedIn !== null) return false;
  if (!(await isInBase(git, common, base, commit))) await saveBranch(common, ended, parts);
  const { code } = await git.ask({ gitDir: common, args: ['update-ref', '-d', `refs/heads/${branch}`, commit] });
  return code === 0;
}

async function isInBase(git: Git, gitDir: string, base: string, commit: string): Promise<boolean> {
  return (await git.ask({ gitDir, args: ['merge-base', '--is-ancestor', commit, `refs/heads/${base}`] })).code === 0;
}
