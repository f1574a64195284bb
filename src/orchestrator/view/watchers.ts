import type { Logger } from '../../core/logger.ts';

/** Listeners that are called after each change. None of them can break the scheduler. */
export class Watchers {
  readonly #logger: Logger;
  readonly #watchers = new Set<() => void>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Calls the watcher after each change, until the returned function is called. */
  add(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  notify(): void {
    for (const watcher of this.#watchers) {
      try {
        watcher();
      } catch (error) {
        this.#logger.error('orchestrator_watcher_failed', { error });
      }
    }
  }
}
