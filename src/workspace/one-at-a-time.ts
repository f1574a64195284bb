/** Runs the jobs for one thing in order, one after another. Jobs for different things run in parallel. */
export type OneAtATime = <T>(thing: string, work: () => Promise<T>) => Promise<T>;

export function createOneAtATime(): OneAtATime {
  const last = new Map<string, Promise<unknown>>();
  return (thing, work) => {
    const before = last.get(thing) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.then(
      () => {},
      () => {},
    );
    last.set(thing, settled);
    void settled.then(() => {
      if (last.get(thing) === settled) last.delete(thing);
    });
    return mine;
  };
}
