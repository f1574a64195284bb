import type { Store, StoreTables } from '../../src/store/store.ts';

/** What stands between a daemon and its store: told of each call before and after, it may wait or reject. */
export interface Between {
  /** Named `table.method`, or `transaction`; inside a transaction `in table.method`. */
  readonly before?: (call: string) => Promise<void> | void;
  /** What is rejected here was done all the same: its answer is lost. Not asked inside a transaction. */
  readonly after?: (call: string) => Promise<void> | void;
}

/** The store as one daemon reaches it. */
export function storeThrough(store: Store, { before, after }: Between): Store {
  const pass = async <T>(call: string, work: () => Promise<T>): Promise<T> => {
    await before?.(call);
    const answer = await work();
    if (!call.startsWith('in ')) await after?.(call);
    return answer;
  };
  return {
    ...wrapTables(store, '', pass),
    engine: store.engine,
    recovery: (project, at) => pass('recovery', () => store.recovery(project, at)),
    transaction: (work) =>
      pass('transaction', () => store.transaction((tables) => work(wrapTables(tables, 'in ', pass)))),
    maintain: () => pass('maintain', () => store.maintain()),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

type Pass = <T>(call: string, work: () => Promise<T>) => Promise<T>;

const tables = [
  'projects',
  'boardIssues',
  'boardComments',
  'boardHistory',
  'claims',
  'runs',
  'runEvents',
  'questions',
  'messages',
  'accounts',
  'retries',
  'held',
  'pins',
  'counters',
  'jobTimers',
  'requestCounts',
  'usage',
  'commands',
  'notifications',
  'finishedIssues',
  'pullRequests',
  'checks',
  'verdicts',
  'phases',
  'artifacts',
  'completionClaims',
  'plans',
  'tasks',
  'learnings',
] as const satisfies readonly (keyof StoreTables)[];

function wrapTables(given: StoreTables, prefix: string, pass: Pass): StoreTables {
  const wrapped = tables.map((name) => [
    name,
    new Proxy(given[name], {
      get: (table, method: string) => {
        const found = Reflect.get(table, method);
        if (typeof found !== 'function') return found;
        return (...parts: unknown[]) => pass(`${prefix}${name}.${method}`, () => found(...parts));
      },
    }),
  ]);
  // Each table keeps its type: the proxy has the methods of what it stands for.
  return Object.fromEntries(wrapped) as unknown as StoreTables;
}
