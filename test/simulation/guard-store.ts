import type { Store, StoreTables } from '../../src/store/store.ts';
import type { Incarnation } from './incarnation.ts';

/** The current fault between an incarnation and its store. */
export interface StoreGate {
  /** Resolves when the call may continue, rejects if it fails. */
  before(isWrite: boolean): Promise<void> | null;
  /** The call was carried out; throws if its answer is lost. */
  after(isWrite: boolean): void;
  /** The call failed, or its answer is lost. */
  failed(name: string): void;
}

/**
 * The store as one incarnation sees it: each call counts for its fate and passes the gate. Inside a transaction nothing waits,
 * because others wait for it.
 */
export function guardStore(
  store: Store,
  incarnation: Incarnation,
  gate: StoreGate,
  shownEngine: Store['engine'],
): Store {
  const through = async <T>(isWrite: boolean, work: () => Promise<T>): Promise<T> => {
    await gate.before(isWrite);
    // An incarnation that ended at the gate has made no call.
    if (incarnation.isDead) return new Promise(() => {});
    const answer = await work();
    gate.after(isWrite);
    return answer;
  };
  const noted = <T>(name: string, work: () => Promise<T>): Promise<T> =>
    work().catch((error) => {
      gate.failed(name);
      throw error;
    });
  const outside = guardTables(store, (name, method, work) =>
    incarnation.call(name, () => noted(name, () => through(name === 'pullRequests.open' || !isRead(method), work))),
  );
  const own: Omit<Store, keyof StoreTables> = {
    engine: shownEngine,
    transaction: (work) =>
      incarnation.call('transaction', () =>
        noted('transaction', () =>
          through(true, () =>
            store.transaction((tables) =>
              work(guardTables(tables, (name, _method, inner) => incarnation.callInside(name, inner))),
            ),
          ),
        ),
      ),
    recovery: (project, at) => incarnation.call('recovery', () => through(false, () => store.recovery(project, at))),
    maintain: () => incarnation.call('maintain', () => through(true, () => store.maintain())),
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
  return new Proxy(store, { get: (_target, name) => Reflect.get(Reflect.has(own, name) ? own : outside, name) });
}

type Pass = (name: string, method: string, work: () => Promise<unknown>) => Promise<unknown>;
type Method = (...args: readonly unknown[]) => Promise<unknown>;

/** Wraps each table on first use, because a transaction needs few of them. */
function guardTables(tables: StoreTables, pass: Pass): StoreTables {
  const made = new Map<string | symbol, Record<string, Method>>();
  return new Proxy(tables, {
    get: (target, name) => {
      const known = made.get(name);
      if (known !== undefined) return known;
      // Every own property that is an object is a table, and all methods of a table return promises.
      const table = Reflect.get(target, name) as Record<string, Method>;
      const guarded = guardTable(String(name), table, pass);
      made.set(name, guarded);
      return guarded;
    },
  });
}

function guardTable(tableName: string, table: Record<string, Method>, pass: Pass): Record<string, Method> {
  return Object.fromEntries(
    Object.entries(table).map(([method, run]) => {
      const name = `${tableName}.${method}`;
      return [method, (...args: readonly unknown[]) => pass(name, method, () => run(...args))];
    }),
  );
}

function isRead(method: string): boolean {
  return /^(read|list|open|undelivered|held|unfinished|waiting|latest|count|sum|find|page|generation)/.test(method);
}
