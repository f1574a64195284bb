import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import type { Settings, TrackerSettings } from '../../core/settings.ts';
import type { WorkflowSource } from '../../core/workflow.ts';

/** The issues that the polls have found to work on. */
export class Candidates {
  readonly #source: WorkflowSource;
  #polled: { readonly issues: readonly Issue[]; readonly by: TrackerSettings } | null = null;
  /** In active states and in review. */
  #all: readonly Issue[] | null = null;
  #active: readonly Issue[] | null = null;
  #revision = 0;
  #inReview: Set<string> | null = null;
  readonly #doubtful = new Set<string>();

  constructor(source: WorkflowSource) {
    this.#source = source;
  }

  /** The issues in active states, updated by reads since the last poll; null before the first answer. */
  get list(): readonly Issue[] | null {
    const isReview = isOnlyReview(this.#source.read().workflow.settings.tracker);
    this.#active ??= this.#all?.filter((issue) => !isReview(issue)) ?? null;
    return this.#active;
  }

  /** The same with those in review, where a judge may start. */
  get withReviews(): readonly Issue[] | null {
    return this.#all;
  }

  /** The issues as the last poll found them; null before the first answer. */
  get polled(): readonly Issue[] | null {
    return this.#polled?.issues ?? null;
  }

  /** Grows when a poll found something different from the previous poll. */
  get revision(): number {
    return this.#revision;
  }

  /** How many issues are in review, as far as known; null when they are not counted, or before the first poll. */
  get inReview(): number | null {
    return this.#inReview?.size ?? null;
  }

  /** Candidates whose read by id differed from the poll: the next poll asks for them. */
  get doubtful(): ReadonlySet<string> {
    return this.#doubtful;
  }

  /**
   * Takes the answer of a poll. Returns true when an issue appeared or changed, which is activity; the first answer is
   * not.
   */
  takeIn({ tracker, agent }: Settings, issues: readonly Issue[]): boolean {
    this.countInReview(agent.maxInReview > 0 ? issues.filter(isInOneOf(tracker.reviewStates)) : null);
    const isAsBefore = this.#polled !== null && sameIssues(this.#polled.issues, issues);
    if (isAsBefore && this.#polled?.by === tracker && this.#doubtful.size === 0) return false;
    this.#doubtful.clear();
    const isActivity = this.#polled !== null && !isAsBefore;
    this.#polled = { issues, by: tracker };
    this.#set(issues.filter(isInOneOf([...tracker.activeStates, ...tracker.reviewStates])));
    this.#revision += 1;
    return isActivity;
  }

  /**
   * Candidates were read by id: `fresh` returns the current issue, null when it is gone, undefined when it was not
   * read.
   */
  update(fresh: (issueId: string) => Issue | null | undefined, isSame: (one: Issue, other: Issue) => boolean): void {
    if (this.#all === null) return;
    this.#set(
      this.#all.flatMap((issue) => {
        const known = fresh(issue.id);
        if (known === undefined) return [issue];
        if (known === null || !isSame(known, issue)) this.#doubtful.add(issue.id);
        return known === null ? [] : [known];
      }),
    );
  }

  /** An issue came into review between two polls. */
  see(issue: Issue): void {
    const { reviewStates } = this.#source.read().workflow.settings.tracker;
    if (this.#all === null || !isInOneOf(reviewStates)(issue)) return;
    this.#set([...this.#all.filter(({ id }) => id !== issue.id), issue]);
    // The next poll may find what the last one found.
    this.#doubtful.add(issue.id);
    this.#revision += 1;
  }

  /** A task that a person asked for between two polls. */
  offer(issue: Issue): void {
    this.#set([...(this.#all ?? []).filter(({ id }) => id !== issue.id), issue]);
    this.#doubtful.add(issue.id);
    this.#revision += 1;
  }

  /** Baton changed a candidate itself: this is how it is now. */
  replace(issue: Issue): void {
    if (this.#all !== null) this.#set(this.#all.map((each) => (each.id === issue.id ? issue : each)));
  }

  #set(all: readonly Issue[]): void {
    this.#all = all;
    this.#active = null;
  }

  /** Null: they are not counted. */
  countInReview(issues: readonly Issue[] | null): void {
    this.#inReview = issues === null ? null : new Set(issues.map(({ id }) => id));
  }

  /**
   * An issue was seen in a state, or moved to it, between two polls. If that is a review state it counts at once, so
   * that the slot its run has just freed starts nothing beyond `agent.max_in_review`. The next poll counts again.
   */
  countReview(issueId: string, seenIn: string): void {
    const { reviewStates } = this.#source.read().workflow.settings.tracker;
    if (isInOneOf(reviewStates)({ state: seenIn })) this.#inReview?.add(issueId);
  }
}

/** In review, and in no active state. */
export function isOnlyReview({ activeStates, reviewStates }: TrackerSettings): (issue: Issue) => boolean {
  const [isActive, isReview] = [isInOneOf(activeStates), isInOneOf(reviewStates)];
  return (issue) => isReview(issue) && !isActive(issue);
}

function sameIssues(before: readonly Issue[], after: readonly Issue[]): boolean {
  const isSame = (issue: Issue, at: number): boolean =>
    before[at] === issue || JSON.stringify(before[at]) === JSON.stringify(issue);
  return before.length === after.length && after.every(isSame);
}
