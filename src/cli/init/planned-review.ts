import { pullHosts } from '../../pulls/hosts.ts';
import type { TrackerAdapter } from '../../tracker/adapter.ts';

/** Where the changes of the new file are reviewed, or why they are not. */
export type PlannedReview =
  | {
      readonly problem: null;
      readonly host: string;
      /** The section `review`; null where the defaults are right. */
      readonly settings: Readonly<Record<string, string>> | null;
      readonly note: string | null;
    }
  | { readonly problem: 'no_repository' | 'no_review_state' | 'no_host' };

interface Answers {
  /** A path or an address, as it goes into the file. */
  readonly repo: string | null;
  readonly tracker: TrackerAdapter;
}

/** A change is reviewed on this machine, or at a host that Baton knows; the tracker needs a state for review. */
export function planReview({ repo, tracker }: Answers): PlannedReview {
  if (repo === null) return { problem: 'no_repository' };
  if ((tracker.roleStates?.review ?? tracker.init.states?.review ?? null) === null)
    return { problem: 'no_review_state' };
  const isLocal = !/^[A-Za-z][A-Za-z0-9+.-]*:\/\/|^[^/]+:/.test(repo);
  if (isLocal) return { problem: null, host: 'local', settings: null, note: null };
  for (const { name, init } of pullHosts) {
    const settings = init?.settings(repo) ?? null;
    if (settings !== null) return { problem: null, host: name, settings, note: init?.note ?? null };
  }
  return { problem: 'no_host' };
}

export function leadsToReview(answers: Answers): boolean {
  return planReview(answers).problem === null;
}

/** For `--json`. */
export function reviewReport(review: PlannedReview): Record<string, unknown> {
  return { host: review.problem === null ? review.host : null, problem: review.problem };
}

/** For people. A file without a repository has a hint of its own. */
export function reviewLines(review: PlannedReview, { kind }: TrackerAdapter): string[] {
  switch (review.problem) {
    case null:
      return review.note === null ? [] : [review.note];
    case 'no_repository':
      return [];
    case 'no_review_state':
      return [`Baton opens no pull requests: the tracker ${kind} has no state for review.`];
    case 'no_host':
      return [
        'Baton opens no pull requests: the address is not on github.com. To review changes with Baton, set workspace.repo to a clone on',
        'this machine and agent.after_success to review. For GitHub Enterprise Server, see docs/pull-requests.md.',
      ];
  }
}
