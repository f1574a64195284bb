import type { Store, StoreTables } from '../../src/store/store.ts';
import type { Life } from './life.ts';

/** What stands between a life and its store just now. */
export interface StoreGate {
  /** Resolves when the call may go on, rejects when it fails. */
  before(isWrite: boolean): Promise<void> | null;
  /** The call was carried out; throws when its answer is lost. */
  after(isWrite: boolean): void;
  /** The call failed, or its answer is lost. */
  failed(name: string): void;
}

/**
 * The store as one life has it: each call counts for its fate and passes the gate. Inside a transaction nothing waits:
 * others wait for it.
 */
export function guardStore(store: Store, life: Life, gate: StoreGate, shownEngine: Store['engine']): Store {
  const through = async <T>(isWrite: boolean, work: () => Promise<T>): Promise<T> => {
    await gate.before(isWrite);
    // A life that ended at the gate has not asked for anything.
    if (life.isDead) return new Promise(() => {});
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
    life.call(name, () => noted(name, () => through(!isRead(method), work))),
  );
  const own: Omit<Store, keyof StoreTables> = {
    engine: shownEngine,
    transaction: (work) =>
      life.call('transaction', () =>
        noted('transaction', () =>
          through(true, () =>
            store.transaction((tables) =>
              work(guardTables(tables, (name, _method, inner) => life.callInside(name, inner))),
            ),
          ),
        ),
      ),
    recovery: (project, at) => life.call('recovery', () => through(false, () => store.recovery(project, at))),
    maintain: () => life.call('maintain', () => through(true, () => store.maintain())),
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
  return new Proxy(store, { get: (_target, name) => Reflect.get(Reflect.has(own, name) ? own : outside, name) });
}

type Pass = (name: string, method: string, work: () => Promise<unknown>) => Promise<unknown>;
type Method = (...args: readonly unknown[]) => Promise<unknown>;

/** Each table when it is first used: a transaction needs few of them. */
function guardTables(tables: StoreTables, pass: Pass): StoreTables {
  const made = new Map<string | symbol, Record<string, Method>>();
  return new Proxy(tables, {
    get: (target, name) => {
      const known = made.get(name);
      if (known !== undefined) return known;
      // Every own property that is an object is a table, and a table has only methods that give promises.
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
