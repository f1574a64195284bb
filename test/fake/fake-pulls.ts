import type { MergeRequest, OpenedChange, PullFacts, PullRequests } from '../../src/pulls/pull-requests.ts';

/** A host of pull requests that has what a test says, and records what was proposed and merged. */
export function fakePulls(head: () => string) {
  const proposed: { readonly branch: string; readonly base: string; readonly title: string; readonly body: string }[] =
    [];
  const merges: MergeRequest[] = [];
  const answers = {
    fails: null as Error | null,
    facts: {} as Partial<PullFacts>,
    /** Between the decision to merge and the last read before the merge. */
    beforeMerge: null as (() => void | Promise<void>) | null,
  };
  const opened = (): OpenedChange => ({ hostNumber: null, url: null, headCommit: head(), baseCommit: 'base-1' });
  const as: PullRequests = {
    host: 'local',
    open: async (change) => {
      if (answers.fails !== null) throw answers.fails;
      proposed.push(change);
      return opened();
    },
    update: async () => {},
    findByBranch: async () => opened(),
    read: async (pulls) =>
      pulls.map(({ headCommit, baseCommit }) => ({
        headCommit,
        baseCommit,
        mergeability: 'clean',
        conflicts: [],
        checkedOutIn: null,
        merged: null,
        isClosed: false,
        isEmpty: false,
        checks: null,
        reviews: [],
        ...answers.facts,
      })),
    merge: async (pull, request) => {
      await answers.beforeMerge?.();
      const [now] = await as.read([pull]);
      if (now === undefined) return { outcome: 'refused', refusal: { code: 'closed' } };
      const { headCommit, baseCommit } = now;
      if (headCommit !== request.headCommit) return { outcome: 'refused', refusal: { code: 'head_moved', headCommit } };
      if (baseCommit !== request.baseCommit) return { outcome: 'refused', refusal: { code: 'base_moved', baseCommit } };
      const refusal = (await request.objection?.(now)) ?? null;
      if (refusal !== null) return { outcome: 'refused', refusal };
      merges.push(request);
      return { outcome: 'merged', commit: 'merge-1', method: request.method };
    },
    close: async () => {},
  };
  return { as, proposed, merges, answers };
}
