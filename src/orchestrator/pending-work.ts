import type { Logger } from '../core/logger.ts';

/**
 * Owns work that its caller does not await, so that every rejection is handled and a stop can wait until all of it is
 * done.
 */
export class PendingWork {
  readonly #logger: Logger;
  readonly #work = new Set<Promise<void>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Takes ownership of the work; logs a rejection under `what`. */
  own(what: string, work: Promise<unknown>): void {
    const owned: Promise<void> = work
      .then(
        () => {},
        (error) => this.#logger.error('background_work_failed', { what, error }),
      )
      .finally(() => this.#work.delete(owned));
    this.#work.add(owned);
  }

  /** Resolves when nothing is pending, including work that was added meanwhile. */
  async drain(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }
}
