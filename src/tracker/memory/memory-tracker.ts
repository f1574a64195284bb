import type { Clock } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { Author } from '../../core/issue/author.ts';
import { type Blocker, type Issue, normalizeLabels, normalizeState } from '../../core/issue/issue.ts';
import { commentAuthor, latestComments } from '../latest-comments.ts';
import { refuseMoved } from '../refuse-moved.ts';
import type { Ask, ChildrenPlan, IssueComments, LabelChange, Tracker, TrackerChanges } from '../tracker.ts';

export interface MemoryTrackerOptions {
  readonly issues: readonly Issue[];
  /** The states an issue may be moved to. */
  readonly states: readonly string[];
  readonly clock: Clock;
}

/** A comment on an issue in this tracker. */
export interface MemoryComment {
  readonly body: string;
  readonly author: Author;
  readonly at: number;
}

/**
 * A tracker in the memory of this process, for the demo, for trying Baton out, and for tests. The state of a blocker is
 * read from the blocker itself, as in a real tracker.
 */
export class MemoryTracker implements Tracker {
  readonly kind = 'memory';
  readonly changes: TrackerChanges = {
    moveIssue: async (id, state, _author, ask) => this.#move(id, state, ask?.from),
    addComment: async (id, body, author) => this.#comment(id, body, author),
    changeLabels: async (id, change) => this.#relabel(id, change),
    createChildren: async (plan) => this.#addChildren(plan),
  };
  readonly #issues: Map<string, Issue>;
  readonly #comments = new Map<string, MemoryComment[]>();
  readonly #states: readonly string[];
  readonly #clock: Clock;

  constructor(options: MemoryTrackerOptions) {
    this.#issues = new Map(options.issues.map((issue) => [issue.id, issue]));
    this.#states = options.states;
    this.#clock = options.clock;
  }

  async fetchByStates(states: readonly string[], ask?: Ask): Promise<readonly Issue[]> {
    ask?.signal?.throwIfAborted();
    const wanted = new Set(states.map(normalizeState));
    return [...this.#issues.values()]
      .filter((issue) => wanted.has(normalizeState(issue.state)))
      .map((issue) => this.#withBlockers(issue));
  }

  async fetchByIds(ids: readonly string[], ask?: Ask): Promise<readonly Issue[]> {
    ask?.signal?.throwIfAborted();
    return [...new Set(ids)]
      .map((id) => this.#issues.get(id))
      .filter((issue) => issue !== undefined)
      .map((issue) => this.#withBlockers(issue));
  }

  async fetchComments(id: string, ask?: Ask): Promise<IssueComments> {
    ask?.signal?.throwIfAborted();
    this.#find(id);
    return latestComments(this.commentsOn(id).map(({ author, at, body }) => ({ ...commentAuthor(author), at, body })));
  }

  async fetchChildren(ids: readonly string[], ask?: Ask): Promise<ReadonlyMap<string, readonly Blocker[]>> {
    ask?.signal?.throwIfAborted();
    const all = [...this.#issues.values()];
    const of = (parentId: string): Blocker[] =>
      all
        .filter(({ parent }) => parent?.id === parentId)
        .map(({ id, identifier, state }) => ({ id, identifier, state }));
    return new Map(ids.map((id) => [id, of(id)]));
  }

  /** All issues, for display. */
  all(): readonly Issue[] {
    return [...this.#issues.values()].map((issue) => this.#withBlockers(issue));
  }

  commentsOn(id: string): readonly MemoryComment[] {
    return this.#comments.get(id) ?? [];
  }

  /** Adds an issue, or replaces the one with the same id. */
  put(issue: Issue): void {
    this.#issues.set(issue.id, issue);
  }

  remove(id: string): void {
    this.#issues.delete(id);
  }

  #relabel(id: string, { add = [], remove = [] }: LabelChange): Issue {
    const issue = this.#find(id);
    const gone = new Set(normalizeLabels(remove));
    const labels = normalizeLabels([...issue.labels.filter((label) => !gone.has(label)), ...add]);
    return this.#change({ ...issue, labels });
  }

  #addChildren({ parentId, children, states }: ChildrenPlan): readonly Issue[] {
    const parent = this.#find(parentId);
    const [todo, blocked] = [this.#known(states.todo), this.#known(states.blocked)];
    const linkTo = (id: string): Blocker => ({ id, identifier: this.#issues.get(id)?.identifier ?? null, state: null });
    for (const { id, blockedBy, ...fields } of children) {
      if (this.#issues.has(id)) continue;
      const made = [...this.#issues.values()].filter((each) => each.parent?.id === parentId).length;
      this.#issues.set(id, {
        ...parent,
        ...fields,
        id,
        identifier: `${parent.identifier}.${made + 1}`,
        state: todo,
        parent: { id: parent.id, identifier: parent.identifier },
        blockedBy: blockedBy.map(linkTo),
        branchName: null,
        url: null,
        authorNames: [],
        createdAt: this.#clock.now(),
      });
    }
    const others = parent.blockedBy.filter(({ id }) => children.every((child) => child.id !== id));
    const waits = [...others, ...children.map(({ id }) => linkTo(id))];
    this.#change({ ...parent, state: blocked, blockedBy: waits });
    return children.map(({ id }) => this.#withBlockers(this.#find(id)));
  }

  #change(issue: Issue): Issue {
    const changed: Issue = { ...issue, updatedAt: this.#clock.now() };
    this.#issues.set(issue.id, changed);
    return this.#withBlockers(changed);
  }

  #move(id: string, state: string, from?: string): Issue {
    const issue = this.#find(id);
    const known = this.#known(state);
    refuseMoved({ name: issue.identifier, state: issue.state }, from, known);
    return this.#change({ ...issue, state: known });
  }

  /** The state as this tracker writes it. */
  #known(state: string): string {
    const known = this.#states.find((name) => normalizeState(name) === normalizeState(state));
    if (known !== undefined) return known;
    const allowed = this.#states.join(', ');
    throw new BatonError('tracker_state_unknown', `There is no state "${state}". The states are: ${allowed}.`, {
      details: { state, allowed: this.#states },
    });
  }

  #comment(id: string, body: string, author: Author): void {
    this.#find(id);
    this.#comments.set(id, [...this.commentsOn(id), { body, author, at: this.#clock.now() }]);
  }

  #find(id: string): Issue {
    const issue = this.#issues.get(id);
    if (issue === undefined) throw new BatonError('tracker_issue_not_found', `There is no issue with the id "${id}".`);
    return issue;
  }

  #withBlockers(issue: Issue): Issue {
    const blockedBy = issue.blockedBy.map((blocker) => {
      const current = blocker.id === null ? undefined : this.#issues.get(blocker.id);
      return current === undefined ? blocker : { id: current.id, identifier: current.identifier, state: current.state };
    });
    return { ...issue, blockedBy };
  }
}
