import type { Task } from '../../core/task/task.ts';
import type { BaseParts } from '../parts.ts';

/** More than a person decides about in a day; the others come when these are decided. */
const mostShown = 50;

/** The tasks whose proposals wait for a person, as last read: with each change here, and once a minute for other daemons. */
export class OpenProposals {
  readonly #parts: Pick<BaseParts, 'notify' | 'project' | 'store'>;
  #tasks: readonly Task[] = [];

  constructor(parts: Pick<BaseParts, 'notify' | 'project' | 'store'>) {
    this.#parts = parts;
  }

  get list(): readonly Task[] {
    return this.#tasks;
  }

  async read(): Promise<void> {
    const { store, project, notify } = this.#parts;
    const before = JSON.stringify(this.#tasks);
    this.#tasks = await store.tasks.list(project, { statuses: ['proposed'], limit: mostShown });
    if (JSON.stringify(this.#tasks) !== before) notify();
  }
}
