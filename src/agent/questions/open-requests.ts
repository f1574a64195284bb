/** Most requests of one session that may be open at once; an agent that asks more is broken. */
export const mostOpen = 100;

/**
 * The requests of an agent to its client that have no answer yet. What must hold: every request gets exactly one
 * answer, unless the agent withdrew it or its turn has ended; nothing here blocks the reading.
 */
export class OpenRequests {
  readonly #open = new Map<string, AbortController>();
  readonly #onOpen: () => void;
  readonly #onIdle: () => void;
  /** Requests that are being worked on, including those whose answer is no longer needed. */
  #atWork = 0;

  /** The first function is called when the first request opens, the other when the last open request is settled. */
  constructor(onOpen: () => void, onIdle: () => void) {
    this.#onOpen = onOpen;
    this.#onIdle = onIdle;
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  get isFull(): boolean {
    return this.#atWork >= mostOpen;
  }

  /** Passes the result of `decide` to `answer`, unless the request is withdrawn before. `decide` must not reject. */
  async take<Answer>(
    key: string,
    decide: (signal: AbortSignal) => Promise<Answer>,
    answer: (answer: Answer) => void,
  ): Promise<void> {
    const taken = new AbortController();
    this.#open.get(key)?.abort();
    this.#open.set(key, taken);
    if (this.#open.size === 1) this.#onOpen();
    this.#atWork += 1;
    const decided = await decide(taken.signal);
    this.#atWork -= 1;
    if (taken.signal.aborted) return;
    answer(decided);
    this.#close(key);
  }

  /** The agent has settled a request itself. */
  withdraw(key: string): void {
    this.#open.get(key)?.abort();
    this.#close(key);
  }

  /** The turn or the session has ended, so the agent no longer waits for any answer. */
  withdrawAll(): void {
    for (const key of [...this.#open.keys()]) this.withdraw(key);
  }

  #close(key: string): void {
    if (this.#open.delete(key) && this.#open.size === 0) this.#onIdle();
  }
}
