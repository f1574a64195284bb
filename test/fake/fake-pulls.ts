import type { OpenedChange, PullFacts, PullRequests } from '../../src/pulls/pull-requests.ts';

/** A host of pull requests that has what a test says, and records what was proposed. */
export function fakePulls(head: () => string) {
  const proposed: { readonly branch: string; readonly base: string; readonly title: string; readonly body: string }[] =
    [];
  const answers = { fails: null as Error | null, facts: {} as Partial<PullFacts> };
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
    merge: async () => ({ outcome: 'refused', refusal: { code: 'closed' } }),
    close: async () => {},
  };
  return { as, proposed, answers };
}
