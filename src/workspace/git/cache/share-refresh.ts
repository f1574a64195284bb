/**
 * Many who want the same thing fresh share the next refresh: whoever comes while one is running waits for the next, which
 * began after they asked and brings what all of them want. Nobody's giving up takes it from the others; when all gave up
 * it is ended.
 */
export type SharedRefresh<Wish, Answer> = (wish: Wish, signal?: AbortSignal) => Promise<Answer>;

export interface RefreshParts<Wish, Answer> {
  /** Waits until it may begin, then begins. */
  readonly inTurn: (work: () => Promise<Answer>) => Promise<Answer>;
  readonly refresh: (wishes: readonly Wish[], signal: AbortSignal) => Promise<Answer>;
}

interface Batch<Wish, Answer> {
  readonly wishes: Wish[];
  readonly giveUp: AbortController;
  waiting: number;
  answer: Promise<Answer>;
}

export function shareRefresh<Wish, Answer>(parts: RefreshParts<Wish, Answer>): SharedRefresh<Wish, Answer> {
  let next: Batch<Wish, Answer> | null = null;

  function batch(): Batch<Wish, Answer> {
    if (next !== null) return next;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const made: Batch<Wish, Answer> = { wishes: [], giveUp: new AbortController(), waiting: 0, answer: promise };
    next = made;
    const begun = parts.inTurn(async () => {
      if (next === made) next = null;
      made.giveUp.signal.throwIfAborted();
      return await parts.refresh(made.wishes, made.giveUp.signal);
    });
    resolve(begun);
    // Whoever still waits gets it; when nobody does, it is nobody's.
    begun.catch(() => {});
    return made;
  }

  return async (wish, signal) => {
    signal?.throwIfAborted();
    const mine = batch();
    mine.wishes.push(wish);
    mine.waiting += 1;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => {
      mine.waiting -= 1;
      if (mine.waiting === 0) {
        if (next === mine) next = null;
        mine.giveUp.abort(signal?.reason);
      }
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([mine.answer, aborted]);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  };
}
