import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import type { Settings, TrackerSettings } from '../../core/settings.ts';
import type { WorkflowSource } from '../../core/workflow.ts';

/** What the polls have found to do. */
export class Candidates {
  readonly #source: WorkflowSource;
  #polled: { readonly issues: readonly Issue[]; readonly by: TrackerSettings } | null = null;
  #list: readonly Issue[] | null = null;
  #revision = 0;
  #inReview: Set<string> | null = null;
  readonly #doubtful = new Set<string>();

  constructor(source: WorkflowSource) {
    this.#source = source;
  }

  /** The issues in active states, with what was learned of them since the last poll; null before the first answer. */
  get list(): readonly Issue[] | null {
    return this.#list;
  }

  /** What the last poll found, as it found it; null before the first answer. */
  get polled(): readonly Issue[] | null {
    return this.#polled?.issues ?? null;
  }

  /** Grows when a poll found something else than the one before. */
  get revision(): number {
    return this.#revision;
  }

  /** How many issues are in review, as far as is known; null where nobody counts them, or before the first poll. */
  get inReview(): number | null {
    return this.#inReview?.size ?? null;
  }

  /** Candidates that turned out, when they were read by id, to be other than the poll had them: the next one asks for them. */
  get doubtful(): ReadonlySet<string> {
    return this.#doubtful;
  }

  /**
   * A poll was answered. An issue that appeared or changed is activity, and true is given; a first answer is none.
   */
  takeIn({ tracker, agent }: Settings, issues: readonly Issue[]): boolean {
    this.countInReview(agent.maxInReview > 0 ? issues.filter(isInOneOf(tracker.reviewStates)) : null);
    const isAsBefore = this.#polled !== null && sameIssues(this.#polled.issues, issues);
    if (isAsBefore && this.#polled?.by === tracker && this.#doubtful.size === 0) return false;
    this.#doubtful.clear();
    const isActivity = this.#polled !== null && !isAsBefore;
    this.#polled = { issues, by: tracker };
    this.#list = issues.filter(isInOneOf(tracker.activeStates));
    this.#revision += 1;
    return isActivity;
  }

  /** Candidates were read by id: `fresh` gives each as it is now, null when it is gone, undefined when it was not read. */
  update(fresh: (issueId: string) => Issue | null | undefined, isSame: (one: Issue, other: Issue) => boolean): void {
    if (this.#list === null) return;
    this.#list = this.#list.flatMap((issue) => {
      const known = fresh(issue.id);
      if (known === undefined) return [issue];
      if (known === null || !isSame(known, issue)) this.#doubtful.add(issue.id);
      return known === null ? [] : [known];
    });
  }

  /** Null: nobody counts them. */
  countInReview(issues: readonly Issue[] | null): void {
    this.#inReview = issues === null ? null : new Set(issues.map(({ id }) => id));
  }

  /**
   * An issue was seen in a state, or moved to it, between two polls: if that is a state of review it counts at once, so
   * that the slot which its run has just freed starts nothing beyond `agent.max_in_review`. The next poll counts again.
   */
  countReview(issueId: string, seenIn: string): void {
    const { reviewStates } = this.#source.read().workflow.settings.tracker;
    if (isInOneOf(reviewStates)({ state: seenIn })) this.#inReview?.add(issueId);
  }
}

function sameIssues(before: readonly Issue[], after: readonly Issue[]): boolean {
  const isSame = (issue: Issue, at: number): boolean =>
    before[at] === issue || JSON.stringify(before[at]) === JSON.stringify(issue);
  return before.length === after.length && after.every(isSame);
}
