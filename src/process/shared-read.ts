/**
 * One read at a time for any number of callers: a caller that asks while a read is in progress shares the next one, so
 * that its answer was read after its question.
 */
export function sharedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  return () => {
    next ??= underWay.then(() => {
      next = null;
      const now = read();
      underWay = now.catch(() => {});
      return now;
    });
    return next;
  };
}
