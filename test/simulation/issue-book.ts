import { BatonError } from '../../src/core/baton-error.ts';
import type { Author } from '../../src/core/issue/author.ts';
import { type Issue, normalizeState } from '../../src/core/issue/issue.ts';
import { blockedState } from './planner/planner-plan.ts';

/** Every state of the simulated tracker. `Review` and `Backlog` are neither active nor terminal. */
export const trackerStates = ['Backlog', 'Todo', 'In Progress', 'Review', 'Done'] as const;

/** A move of an issue; `hand`: a person moved it in the tracker. */
export interface IssueMove {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly by: Author | 'hand';
  readonly at: number;
}

/** The true state of the issues: the answer of the tracker if it answered at once. */
export class IssueBook {
  readonly #issues = new Map<string, Issue>();
  /** When an issue got its state, on the monotonic clock. */
  readonly stateSince = new Map<string, number>();
  /** When the issue, or one that blocks it, last changed after it was filed. */
  readonly changedAt = new Map<string, number>();
  /** The last move of each issue. */
  readonly lastMove = new Map<string, IssueMove>();
  /** Called with each move. */
  readonly onMove = new Set<(move: IssueMove) => void>();
  /** Called with each id that the tracker is asked about. */
  readonly onAsked = new Set<(id: string) => void>();
  readonly #now: () => number;
  readonly #hasTimes: boolean;
  #changedAt = 0;

  /** `hasTimes`: each change gets a later time of the tracker's own clock. */
  constructor(now: () => number, hasTimes: boolean) {
    this.#now = now;
    this.#hasTimes = hasTimes;
  }

  get(id: string): Issue | undefined {
    const issue = this.#issues.get(id);
    return issue === undefined ? undefined : this.#withBlockers(issue);
  }

  asked(...ids: readonly string[]): void {
    for (const id of ids) for (const told of this.onAsked) told(id);
  }

  ids(): string[] {
    return [...this.#issues.keys()];
  }

  all(): Issue[] {
    return [...this.#issues.values()].map((issue) => this.#withBlockers(issue));
  }

  put(issue: Issue): void {
    const before = this.#issues.get(issue.id);
    if (before?.state !== issue.state) this.stateSince.set(issue.id, this.#now());
    this.#issues.set(issue.id, this.#stamped(issue));
    if (before !== undefined) this.#noteChange(issue.id);
  }

  remove(id: string): void {
    this.#issues.delete(id);
    this.#noteChange(id);
  }

  /** Labels that Baton writes are no change that others have to hear of. */
  relabel(id: string, labels: readonly string[], by: 'hand' | 'baton'): Issue {
    const issue = this.#issues.get(id);
    if (issue === undefined) throw new BatonError('tracker_issue_not_found', `There is no issue with the id "${id}".`);
    const changed = this.#stamped({ ...issue, labels: [...labels] });
    this.#issues.set(id, changed);
    if (by === 'hand') this.#noteChange(id);
    return this.#withBlockers(changed);
  }

  /** Like a tracker: refuses an unknown issue or state. */
  move(id: string, state: string, by: Author | 'hand'): Issue {
    const issue = this.#issues.get(id);
    if (issue === undefined) throw new BatonError('tracker_issue_not_found', `There is no issue with the id "${id}".`);
    const known = [...trackerStates, blockedState].find((name) => normalizeState(name) === normalizeState(state));
    if (known === undefined) throw new BatonError('tracker_state_unknown', `There is no state "${state}".`);
    this.put({ ...issue, state: known });
    const move = { id, from: issue.state, to: known, by, at: this.#now() };
    this.lastMove.set(id, move);
    for (const told of this.onMove) told(move);
    return this.get(id) ?? { ...issue, state: known };
  }

  #stamped(issue: Issue): Issue {
    if (!this.#hasTimes) return issue;
    this.#changedAt = Math.max(this.#now(), this.#changedAt + 1);
    return { ...issue, updatedAt: this.#changedAt };
  }

  #noteChange(id: string): void {
    this.changedAt.set(id, this.#now());
    for (const { id: other, blockedBy } of this.#issues.values())
      if (blockedBy.some((blocker) => blocker.id === id)) this.changedAt.set(other, this.#now());
  }

  #withBlockers(issue: Issue): Issue {
    if (issue.blockedBy.length === 0) return issue;
    const blockedBy = issue.blockedBy.flatMap((blocker) => {
      const current = blocker.id === null ? undefined : this.#issues.get(blocker.id);
      return current === undefined ? [] : [{ id: current.id, identifier: current.identifier, state: current.state }];
    });
    return { ...issue, blockedBy };
  }
}
