/**
 * Reads that take long or give much. What must hold:
 *
 * - Only a few are worked on at a time, and one caller never has all of these places: everything else, and everybody
 *   else, goes on meanwhile.
 * - An answer counts until it was taken, so that those who ask and do not read fill no memory.
 * - Whoever has too many of them waiting, worked on or not taken is refused at once.
 */
export interface CostlyLimits {
  readonly atOnce: number;
  readonly atOnceOfOne: number;
  /** Waiting, worked on and not taken yet. */
  readonly most: number;
  readonly mostOfOne: number;
}

const usualLimits: CostlyLimits = { atOnce: 3, atOnceOfOne: 2, most: 48, mostOfOne: 16 };

export interface CostlyRead {
  /** Resolves when it is its turn. */
  readonly turn: Promise<void>;
  /** The work is done, or nobody wants it any more. */
  done(): void;
  /** The answer was taken, or will never be. */
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

  /** A place for one more read of this caller; null when there are too many. */
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
