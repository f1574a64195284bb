/**
 * Reads that take long or return much. What must hold:
 *
 * - Only a few run at a time, and one caller never has all of the places, so other requests and other callers continue.
 * - A read counts until the client has received its response, so clients that ask and do not read cannot fill the
 *   memory.
 * - A caller with too many reads waiting, running or not yet received is refused at once.
 */
export interface CostlyLimits {
  readonly atOnce: number;
  readonly atOnceOfOne: number;
  /** Waiting, running, and finished but not yet received by the client. */
  readonly most: number;
  readonly mostOfOne: number;
}

const usualLimits: CostlyLimits = { atOnce: 3, atOnceOfOne: 2, most: 48, mostOfOne: 16 };

export interface CostlyRead {
  /** Resolves when the read may start. */
  readonly turn: Promise<void>;
  /** The work is finished, or the caller no longer wants it. */
  done(): void;
  /** The client has received the response, or never will. */
  taken(): void;
}

interface Waiting {
  readonly caller: string;
  begin(): void;
}

export class CostlyReads {
  readonly #limits: CostlyLimits;
  #waiting: Waiting[] = [];
  readonly #working: string[] = [];
  readonly #held: string[] = [];

  constructor(limits: Partial<CostlyLimits> = {}) {
    this.#limits = { ...usualLimits, ...limits };
  }

  /** Returns a place for one more read of this caller; null when there are too many. */
  enter(caller: string): CostlyRead | null {
    const { most, mostOfOne } = this.#limits;
    if (this.#held.length >= most || countOf(this.#held, caller) >= mostOfOne) return null;
    this.#held.push(caller);
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting: Waiting = { caller, begin: resolve };
    this.#waiting.push(waiting);
    this.#beginNext();
    return {
      turn: promise,
      done: once(() => {
        const isWaiting = this.#waiting.includes(waiting);
        if (isWaiting) this.#waiting = this.#waiting.filter((each) => each !== waiting);
        else removeOne(this.#working, caller);
        resolve();
        this.#beginNext();
      }),
      taken: once(() => removeOne(this.#held, caller)),
    };
  }

  #beginNext(): void {
    const { atOnce, atOnceOfOne } = this.#limits;
    while (this.#working.length < atOnce) {
      const next = this.#waiting.find(({ caller }) => countOf(this.#working, caller) < atOnceOfOne);
      if (next === undefined) return;
      this.#waiting = this.#waiting.filter((each) => each !== next);
      this.#working.push(next.caller);
      next.begin();
    }
  }
}

function countOf(callers: readonly string[], caller: string): number {
  return callers.filter((each) => each === caller).length;
}

function removeOne(callers: string[], caller: string): void {
  const at = callers.indexOf(caller);
  if (at >= 0) callers.splice(at, 1);
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}
