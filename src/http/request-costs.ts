/** Of so many requests is remembered what they took. */
const remembered = 8;

/**
 * What a request takes of a limit, as it shows in what is left between two answers: one of a limit on requests, thousands
 * of a limit on points. The dearest of the last few counts, because the next may be like it. Others who use the same
 * credential make it look dearer; where one of the few took one, the limit is on requests, and others made the difference.
 */
export class RequestCosts {
  readonly #taken = new Map<string, readonly number[]>();

  /** A limit that was filled up again meanwhile tells nothing. */
  learn(limit: string, taken: number): void {
    if (taken > 0) this.#taken.set(limit, [taken, ...(this.#taken.get(limit) ?? [])].slice(0, remembered));
  }

  costOf(limit: string): number {
    const taken = this.#taken.get(limit) ?? [1];
    return taken.some((each) => each <= 1) ? 1 : Math.max(...taken);
  }
}
