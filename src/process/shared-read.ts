/**
 * One read at a time, however many ask: a caller who asks while one is under way shares the next one, so that the answer
 * was read after the question.
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
