import { sleep } from '../../../src/clock/clock.ts';
import { BatonError } from '../../../src/core/baton-error.ts';
import type { MergeMethod, PullRequest } from '../../../src/core/pull/pull-request.ts';
import type { MergeRefusal, MergeResult, PullFacts, PullRequests } from '../../../src/pulls/pull-requests.ts';
import type { Incarnation } from '../incarnation.ts';
import type { World } from '../world.ts';
import type { ReviewWorld } from './review-world.ts';
import type { SimulatedRepository } from './simulated-repository.ts';

/** As git knows the person who merges with Baton. */
export const identity = 'Ida';
/** As git knows Baton itself. */
export const ownIdentity = 'Baton';

/**
 * The local host over the simulated repository: what it read may be old when it is used, and a merge is computed before the base
 * moves, so that others can be faster.
 */
export function simulatedPulls(world: World, review: ReviewWorld, incarnation: Incarnation): PullRequests {
  const { repository } = review;
  const slowly = async (signal?: AbortSignal): Promise<void> => {
    if (world.draw.review.chance(0.5)) await sleep(incarnation.clock, world.draw.review.logBetween(1, 2_000), signal);
    if (world.isCalm || !world.draw.review.chance(review.plan.fails)) return;
    world.count('repository error');
    throw new BatonError('git_failed', 'The simulated repository does not answer.');
  };
  const call = <T>(name: string, work: () => Promise<T>): Promise<T> => incarnation.call(`pulls.${name}`, work);
  const open: PullRequests['open'] = ({ branch, base }) =>
    call('open', async () => {
      const [headCommit, baseCommit] = [repository.ref(branch), repository.ref(base)];
      await slowly();
      if (headCommit === null || baseCommit === null) throw new BatonError('change_missing', `There is no ${branch}.`);
      return { hostNumber: null, url: null, headCommit, baseCommit };
    });
  return {
    host: 'local',
    open,
    update: () => call('update', () => slowly()),
    close: () => call('close', () => slowly()),
    findByBranch: async (branch, base) =>
      repository.ref(branch) === null ? null : open({ branch, base, title: '', body: '' }),
    read: (pulls, signal) =>
      call('read', async () => {
        const facts = pulls.map((pull) => factsOf(repository, pull));
        await slowly(signal);
        return facts;
      }),
    merge: (pull, { headCommit: head, baseCommit, method, by, objection }) =>
      call('merge', async (): Promise<MergeResult> => {
        const [headNow, baseNow] = [repository.ref(pull.branch), repository.base];
        await slowly();
        const done = repository.observe(head, baseNow, null);
        if (done !== null) return { outcome: 'merged', commit: done.commit, method: done.method };
        if (headNow !== head) return refused({ code: 'head_moved', headCommit: headNow });
        if (baseNow !== baseCommit) return refused({ code: 'base_moved', baseCommit: baseNow });
        const make = { merge: 'merged', squash: 'squashed', rebase: 'rebased' } as const;
        const name = by.kind === 'orchestrator' ? ownIdentity : identity;
        const made = repository[make[method]](baseNow, head, 'baton', name);
        if (typeof made !== 'string') return refused({ code: 'conflict', files: made });
        await slowly();
        const last =
          (await objection?.({ headCommit: headNow, baseCommit: baseNow, checks: null, reviews: [] })) ?? null;
        if (last !== null) return refused(last);
        return moveBase(repository, incarnation, pull, { head, from: baseNow, to: made, method, name });
      }),
  };
}

function moveBase(
  repository: SimulatedRepository,
  incarnation: Incarnation,
  { branch, base }: PullRequest,
  { head, from, to, method, name }: { head: string; from: string; to: string; method: MergeMethod; name: string },
): Promise<MergeResult> {
  return incarnation.call('pulls.moveBase', async () => {
    const headNow = repository.ref(branch);
    if (headNow !== head) return refused({ code: 'head_moved', headCommit: headNow });
    if (repository.move({ branch: base, from, to, maker: 'baton', name, head }))
      return { outcome: 'merged', commit: to, method };
    return refused({ code: 'base_moved', baseCommit: repository.base });
  });
}

function factsOf(repository: SimulatedRepository, pull: PullRequest): PullFacts {
  const [headCommit, baseCommit] = [repository.ref(pull.branch), repository.base];
  const merged = repository.observe(pull.headCommit, baseCommit, pull.baseCommit);
  const nothing = { isClosed: false, checks: null, reviews: [], checkedOutIn: null, headCommit, baseCommit, merged };
  const unknown = { ...nothing, isEmpty: false, mergeability: 'unknown', conflicts: [] } as const;
  if (merged !== null || headCommit === null) return unknown;
  if (repository.contains(baseCommit, headCommit)) return { ...unknown, isEmpty: true };
  const made = repository.mergeTrees(baseCommit, headCommit);
  if ('conflicts' in made) return { ...unknown, mergeability: 'conflict', conflicts: made.conflicts };
  return { ...unknown, mergeability: repository.contains(headCommit, baseCommit) ? 'clean' : 'behind' };
}

function refused(refusal: MergeRefusal): MergeResult {
  return { outcome: 'refused', refusal };
}
