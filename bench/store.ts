import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { systemClock } from '../src/clock/system-clock.ts';
import { openStore } from '../src/store/open-store.ts';
import type { Store } from '../src/store/store.ts';
import { startKeeper } from '../test/store/start-keeper.ts';
import { fillBoard } from './board.ts';
import { type Measured, measureInTurns } from './measure.ts';
import type { Figure } from './report.ts';
import { Scratch } from './scratch.ts';

const project = 'bench';

/**
 * Prints how fast the store is, as ratios of numbers of the same run: the store compared with its bare driver, and a board of
 * 100,000 issues compared with one of 1,000. docs/store.md quotes it.
 */
export async function benchStore(): Promise<readonly Figure[]> {
  using scratch = new Scratch();
  const { folder } = scratch;
  await benchEngine('SQLite', `sqlite:${folder}/small/baton.db`, `sqlite:${folder}/large/baton.db`);
  const server = process.env.BATON_TEST_DATABASE_URL ?? (await startKeeper([]));
  if (server === null) console.log('PostgreSQL: cannot run here');
  else await benchPostgres(server);
  return [];
}

async function benchEngine(name: string, smallUrl: string, largeUrl: string): Promise<void> {
  const open = (url: string) => openStore({ url, clock: systemClock, mode: 'daemon' });
  const small = await open(smallUrl);
  await benchWrites(name, small, smallUrl);
  await fillBoard(smallUrl, project, 1_000);
  await (await open(largeUrl)).close();
  await fillBoard(largeUrl, project, 100_000);
  const began = performance.now();
  const large = await open(largeUrl);
  console.log(`${name}: opening the store with 100,000 issues: ${(performance.now() - began).toFixed(0)} ms`);
  await benchBoard(name, [small, large]);
  await small.close();
  await large.close();
}

async function benchPostgres(server: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  const [small, large] = ['small', 'large'].map((size) => `baton_bench_${size}_${process.pid}`) as [string, string];
  const at = (name: string): string => Object.assign(new URL(server), { pathname: `/${name}` }).href;
  for (const name of [small, large]) await client.query(`create database ${name}`);
  await benchEngine('PostgreSQL', at(small), at(large));
  for (const name of [small, large]) await client.query(`drop database ${name}`);
  await client.end();
}

async function benchWrites(name: string, store: Store, url: string): Promise<void> {
  const { insert, close } = await bareDriver(url);
  const author = { kind: 'orchestrator' } as const;
  const payload = { text: 'x'.repeat(500) };
  const [bare, own] = await measureInTurns(20, 100, [
    (index) => insert([`bare-${index}`, 'p', 'k', JSON.stringify(payload), JSON.stringify(author), index, null]),
    (index) =>
      store.commands.submit({ id: `own-${index}`, project: 'p', kind: 'k', payload, author, at: index, key: null }),
  ]);
  await close();
  if (bare && own) report(`${name}: durable writes a second, one after the other`, 'bare driver', bare, 'store', own);
}

async function benchBoard(name: string, stores: readonly [Store, Store]): Promise<void> {
  const inTurns = async (
    title: string,
    rounds: number,
    perRound: number,
    act: (store: Store, index: number) => Promise<unknown>,
  ) => {
    // Not counted: the first time fills caches.
    for (const store of stores) await act(store, -1);
    const acts = stores.map((store) => (index: number) => act(store, index));
    const [small, large] = await measureInTurns(rounds, perRound, acts);
    if (small && large) report(`${name}: ${title}`, '1,000 issues', small, '100,000', large);
  };
  await inTurns('candidates (1,000 active of them)', 10, 10, ({ boardIssues }) =>
    boardIssues.byStatuses(project, ['todo', 'in_progress']),
  );
  await inTurns('a column page of 50 (to do)', 20, 20, ({ boardIssues }) =>
    boardIssues.page(project, { status: 'todo', limit: 50, after: null }),
  );
  await inTurns('a column page of 50 (the longest column, from its middle)', 20, 20, (store) =>
    store === stores[1]
      ? store.boardIssues.page(project, { status: 'done', limit: 50, after: '2050000:id-50000' })
      : store.boardIssues.page(project, { status: 'todo', limit: 50, after: '2000500:id-500' }),
  );
  await inTurns('a move, with its history', 20, 20, (store, index) =>
    store.transaction(async (tables) => {
      const key = { project, issueId: `id-${(index + 1) * 2}` };
      const [from, to] = ['todo', 'in_progress'] as const;
      await tables.boardIssues.setStatus(key, { from, to }, 3_000_000 + index);
      const entry = { at: index, author: { kind: 'orchestrator' }, field: 'status', reason: null } as const;
      await tables.boardHistory.add(key, { ...entry, from, to });
    }),
  );
}

interface BareDriver {
  insert(values: readonly (string | number | null)[]): unknown;
  close(): Promise<void>;
}

async function bareDriver(url: string): Promise<BareDriver> {
  const columns = 'insert into commands (id, project, kind, payload_json, author_json, at, key) values';
  if (url.startsWith('sqlite:')) {
    const database = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 5_000 });
    database.exec('pragma synchronous = full');
    const statement = database.prepare(`${columns} (?,?,?,?,?,?,?)`);
    return { insert: (values) => statement.run(...values), close: async () => database.close() };
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    insert: (values) => client.query(`${columns} ($1,$2,$3,$4,$5,$6,$7)`, [...values]),
    close: () => client.end(),
  };
}

function report(title: string, leftName: string, left: Measured, rightName: string, right: Measured): void {
  const one = ({ perSecond, medianMs, p99Ms }: Measured): string =>
    `${perSecond.toFixed(0)}/s, median ${medianMs.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`;
  const ratio = right.medianMs / left.medianMs;
  console.log(
    `${title}\n  ${leftName}: ${one(left)}\n  ${rightName}: ${one(right)}\n  ratio of medians ${ratio.toFixed(2)}`,
  );
}
