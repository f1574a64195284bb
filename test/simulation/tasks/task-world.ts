import type { Issue } from '../../../src/core/issue/issue.ts';
import type { NewIssue } from '../../../src/tracker/tracker.ts';
import { issue } from '../../fake/issues.ts';
import { type IssueBook, trackerStates } from '../issue-book.ts';
import type { TasksPlan } from './task-plan.ts';

/** An issue that Baton filed for a person. */
export interface FiledIssue {
  readonly id: string;
  readonly identifier: string;
  readonly title: string;
  readonly key: string;
}

/** A person accepted proposals of a task: these numbers, or all that are open. */
export interface AcceptWish {
  readonly task: string;
  readonly numbers: readonly number[] | null;
}

/** Everything of a world with tasks that outlives its daemons: what Baton filed, and what people asked for. */
export class TaskWorld {
  readonly plan: TasksPlan;
  readonly wishes: AcceptWish[] = [];
  /** How often a person let a task be tried again. */
  readonly retries = new Map<string, number>();
  /** By key. */
  readonly filed = new Map<string, FiledIssue>();
  /** Called before each issue is made. */
  readonly onFile = new Set<(draft: NewIssue) => void>();
  #made = 0;

  constructor(plan: TasksPlan) {
    this.plan = plan;
  }

  allowRetry(task: string): void {
    this.retries.set(task, (this.retries.get(task) ?? 0) + 1);
  }

  /** As a tracker: a key that was used before makes nothing. */
  file(book: IssueBook, draft: NewIssue, at: number): Issue {
    const known = this.filed.get(draft.key);
    const { key, title, description, priority, labels, state = 'Todo' } = draft;
    if (known !== undefined) return book.get(known.id) ?? issue({ ...known, state: 'Done' });
    for (const told of this.onFile) told(draft);
    this.#made += 1;
    const id = `f${this.#made}`;
    const identifier = `F-${this.#made}`;
    const named = trackerStates.find((name) => name.toLowerCase() === state.toLowerCase()) ?? 'Todo';
    book.put(issue({ ...{ id, identifier, title, description, priority, labels }, state: named, createdAt: at }));
    this.filed.set(key, { id, identifier, title, key });
    return book.get(id) ?? issue({ id });
  }
}
