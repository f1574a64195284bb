import type { GitEvidence, Publication, PublicationRefusal } from '../../../src/core/run/run-evidence.ts';
import type { WorkspaceFacts } from '../../../src/workspace/workspace.ts';
import type { Incarnation } from '../incarnation.ts';
import type { ReviewWorld, SimulatedCheckout } from './review-world.ts';
import { baseBranch } from './simulated-repository.ts';

/** A new checkout: a branch with work that the base lacks is continued. */
export function makeCheckout({ repository, clone, checkouts }: ReviewWorld, path: string, branch: string): void {
  const found = clone.ref(branch);
  const baseCommit = repository.base;
  const start = found === null || repository.contains(baseCommit, found) ? baseCommit : found;
  checkouts.set(path, { branch, baseCommit, start, found, published: found, head: start, loose: 0 });
}

/** Commits what the agent left uncommitted. */
export function commitRest({ repository, checkouts }: ReviewWorld, path: string): string | null {
  const checkout = checkouts.get(path);
  if (checkout === undefined || checkout.loose === 0) return null;
  const rest = { [`rest of ${checkout.branch}`]: `${checkout.head} and ${checkout.loose} files` };
  checkout.head = repository.commit([checkout.head], rest, 'agent', 'Baton');
  checkout.loose = 0;
  return checkout.head;
}

export function examineCheckout(
  { repository }: ReviewWorld,
  { branch, baseCommit, head, loose }: SimulatedCheckout,
): Omit<WorkspaceFacts, 'fingerprint'> {
  const own = repository.between(baseCommit, head);
  const git: GitEvidence = { head, branch, ahead: own.length, changed: loose, untracked: 0, conflicts: 0 };
  return { git, commits: own.map((id) => ({ id, subject: `the commit ${id}` })).toReversed() };
}

/** As `publishBranch`: moves the branch in the repository, then records that; the daemon may end before, between and after. */
export async function publish(
  { clone: repository, checkouts }: ReviewWorld,
  incarnation: Incarnation,
  path: string,
): Promise<Publication | null> {
  const checkout = checkouts.get(path);
  if (checkout === undefined) return null;
  const { branch, head: commit, published, start, baseCommit } = checkout;
  const seen = { branch, base: baseBranch, commit, before: null, reason: null, elsewhere: null };
  if (commit === baseCommit || commit === published || commit === start) return { ...seen, outcome: 'nothing' };
  const before = repository.ref(branch);
  const objection = before === commit ? null : whyNot(repository, checkout, before);
  if (objection !== null) return { ...seen, outcome: 'refused', code: objection, reason: objection };
  if (before !== commit) {
    const isMoved = await incarnation.call('publish.ref', async () =>
      repository.move({ branch, from: before, to: commit, maker: 'agent', name: 'Baton' }),
    );
    if (!isMoved) return { ...seen, outcome: 'refused', code: 'not_moved', reason: 'not_moved' };
  }
  await incarnation.call('publish.record', async () => {
    checkout.published = commit;
    if (before !== null && before !== published && before !== commit) checkout.found = before;
  });
  return { ...seen, outcome: 'published', before };
}

function whyNot(
  repository: ReviewWorld['repository'],
  { head, published, found }: SimulatedCheckout,
  current: string | null,
): PublicationRefusal | null {
  if (current === null) return published === null ? null : 'branch_deleted';
  if (repository.contains(head, current)) return null;
  if (current !== published) return 'moved_by_others';
  if (found !== null && !repository.contains(head, found)) return 'drops_commits';
  return repository.contains(current, head) ? 'goes_back' : null;
}
