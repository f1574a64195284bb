/**
 * One read at a time for any number of callers. A caller that asks while a read is in progress shares the next one,
 * so no caller gets data that is older than its call.
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
