import type { World } from '../world.ts';
import type { ReviewWorld, SimulatedCheckout } from './review-world.ts';

/** What an agent does with its branch in one turn. */
export interface BranchWork {
  readonly kind:
    | 'commits'
    | 'leaves_loose'
    | 'commits_and_leaves_loose'
    | 'rewrites'
    | 'rebases'
    | 'takes_in'
    | 'nothing';
  /** Whether it gives the pull request a title and a text. */
  readonly proposes: boolean;
  /** Where it moves its issue itself. */
  readonly moveTo: string | null;
}

export function drawBranchWork({ draw, isCalm }: World, { plan: { tidy } }: ReviewWorld): BranchWork {
  const isTidy = isCalm || draw.review.chance(tidy);
  const kind = isTidy
    ? draw.review.weighted({ commits: 8, rewrites: 1, rebases: 2, takes_in: 2, nothing: 0 })
    : draw.review.weighted({ leaves_loose: 3, commits_and_leaves_loose: 2, nothing: 3, rewrites: 2, commits: 1 });
  const moveTo = isTidy ? null : draw.review.weighted({ none: 6, Review: 3, Done: 1, 'In Progress': 1 });
  return { kind, proposes: draw.review.chance(0.4), moveTo: moveTo === 'none' ? null : moveTo };
}

/** Some files belong to several issues, so that their changes conflict. */
const sharedFiles = ['shared-1', 'shared-2', 'shared-3'];

export function workOnBranch(world: World, review: ReviewWorld, path: string, { kind }: BranchWork): void {
  const checkout = review.checkouts.get(path);
  if (checkout === undefined || kind === 'nothing') return;
  world.tally(`agent: ${kind}`);
  if (kind === 'leaves_loose') checkout.loose += 1;
  if (kind === 'commits' || kind === 'commits_and_leaves_loose') commit(world, review, checkout);
  if (kind === 'commits_and_leaves_loose') checkout.loose += 1;
  if (kind === 'rewrites') rewrite(world, review, checkout);
  if (kind === 'rebases') rebase(world, review, checkout);
  if (kind === 'takes_in') takeIn(world, review, checkout);
}

function commit(world: World, { repository }: ReviewWorld, checkout: SimulatedCheckout, onto = checkout.head): void {
  const file = world.draw.review.chance(0.2) ? world.draw.review.pick(sharedFiles) : `file of ${checkout.branch}`;
  const changes = { [file]: `${checkout.branch} ${world.now} ${world.draw.review.between(1, 1_000_000)}` };
  checkout.head = repository.commit([onto], changes, 'agent', 'an agent');
  checkout.loose = 0;
}

/** Replaces the last commit, if an agent made it. */
function rewrite(world: World, review: ReviewWorld, checkout: SimulatedCheckout): void {
  const { repository } = review;
  const last = repository.get(checkout.head);
  const isOwn = last.maker === 'agent' && last.parents.length === 1 && last.id !== checkout.start;
  commit(world, review, checkout, isOwn ? last.parents[0] : checkout.head);
}

function rebase(world: World, review: ReviewWorld, checkout: SimulatedCheckout): void {
  const { repository } = review;
  const made = repository.rebased(repository.base, checkout.head, 'agent', 'an agent');
  // In a conflict it begins again on top of the base.
  const onto = typeof made === 'string' ? made : repository.base;
  commit(world, review, checkout, onto);
}

/** Merges what others pushed on its branch; in a conflict their work counts. */
function takeIn(world: World, review: ReviewWorld, checkout: SimulatedCheckout): void {
  const { repository } = review;
  const theirs = review.clone.ref(checkout.branch);
  if (theirs !== null && !repository.contains(checkout.head, theirs)) {
    const made = repository.merged(checkout.head, theirs, 'agent', 'an agent');
    checkout.head =
      typeof made === 'string' ? made : repository.commit([theirs, checkout.head], {}, 'agent', 'an agent');
  }
  commit(world, review, checkout);
}
