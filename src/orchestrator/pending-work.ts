import type { Logger } from '../core/logger.ts';

/**
 * Work that nobody waits for where it begins: it is owned here, so that no rejection is without an owner and a stop can
 * wait until all of it is done.
 */
export class PendingWork {
  readonly #logger: Logger;
  readonly #work = new Set<Promise<void>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Takes the work over; what it rejects with is logged under `what`. */
  own(what: string, work: Promise<unknown>): void {
    const owned: Promise<void> = work
      .then(
        () => {},
        (error) => this.#logger.error('background_work_failed', { what, error }),
      )
      .finally(() => this.#work.delete(owned));
    this.#work.add(owned);
  }

  /** Resolves when nothing is pending, what came meanwhile included. */
  async drain(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }
}
