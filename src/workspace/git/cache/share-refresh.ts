/**
 * Callers share the next refresh: a caller that comes while one is running waits for the next, which begins after the
 * request and serves all waiting callers. A caller that gives up does not cancel it for the others; when all give up,
 * it is ended.
 */
export type SharedRefresh<Request, Answer> = (request: Request, signal?: AbortSignal) => Promise<Answer>;

export interface RefreshParts<Request, Answer> {
  /** Waits until it may begin, then begins. */
  readonly inTurn: (work: () => Promise<Answer>) => Promise<Answer>;
  readonly refresh: (requests: readonly Request[], signal: AbortSignal) => Promise<Answer>;
}

interface Batch<Request, Answer> {
  readonly requests: Request[];
  readonly giveUp: AbortController;
  waiting: number;
  answer: Promise<Answer>;
}

export function shareRefresh<Request, Answer>(parts: RefreshParts<Request, Answer>): SharedRefresh<Request, Answer> {
  let next: Batch<Request, Answer> | null = null;

  function batch(): Batch<Request, Answer> {
    if (next !== null) return next;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const made: Batch<Request, Answer> = { requests: [], giveUp: new AbortController(), waiting: 0, answer: promise };
    next = made;
    const begun = parts.inTurn(async () => {
      if (next === made) next = null;
      made.giveUp.signal.throwIfAborted();
      return await parts.refresh(made.requests, made.giveUp.signal);
    });
    resolve(begun);
    // Callers that still wait get the error; without any, it must not be an unhandled rejection.
    begun.catch(() => {});
    return made;
  }

  return async (request, signal) => {
    signal?.throwIfAborted();
    const mine = batch();
    mine.requests.push(request);
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
