import type { WorkElsewhere } from '../../core/run-evidence.ts';
import type { CheckoutRecord } from './checkout-record.ts';
import type { Git } from './git.ts';
import type { GitDirectory } from './git-directory.ts';

/**
 * Where HEAD is, when it is not on the branch of the workspace and has commits of its own: an agent that left its branch
 * works on, and nothing of that is ever brought over. Null when HEAD has nothing that the branch or its beginning has not.
 */
export async function findWorkElsewhere(
  { head, headReference, objects }: GitDirectory,
  commit: string | null,
  { branch, baseCommit, start, lens, borrowed }: CheckoutRecord,
  git: Git,
): Promise<WorkElsewhere | null> {
  const known = [baseCommit, start, ...(commit === null ? [] : [commit])];
  if (head === null || headReference === `refs/heads/${branch}` || known.includes(head)) return null;
  const call = {
    // What the agent's git has dropped since leaves nothing out.
    args: ['rev-list', '--ignore-missing', '--max-count=1', head, '--not', ...known],
    gitDir: lens,
    borrowed: [...new Set([...objects, ...borrowed])],
  };
  // What cannot be counted counts as work, and keeps nobody from bringing the branch.
  const own = await git.run(call).catch(() => 'unknown');
  if (own.trim() === '') return null;
  return { branch: headReference?.replace(/^refs\/heads\//, '') ?? null, commit: head };
}
