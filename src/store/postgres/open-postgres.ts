import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely';
import pg from 'pg';
import { BatonError } from '../../core/baton-error.ts';
import type { Logger } from '../../core/logger.ts';
import { type Engine, nothingMaintained } from '../engine.ts';
import type { Database } from '../schema.ts';
import { storableParameters } from '../storable-text.ts';
import { describeLocation } from '../store-url.ts';
import { postgresError } from './postgres-errors.ts';

/** One daemon needs few: its writes are short and mostly one after the other. */
const connections = 5;
const connectTimeoutMs = 10_000;
/** No statement of the store takes long; one that does waits for a lock that was not released. */
const statementTimeoutMs = 30_000;
/** A daemon that froze in the middle of a transaction gives its locks back after this. */
const idleInTransactionTimeoutMs = 60_000;

/** Whole numbers of 64 bits: `pg` gives them as text, as they may not fit; the store's do. */
const int8 = 20;

/** Connects when the first question is asked. */
export function openPostgres(url: string, logger?: Logger): Engine {
  const place = describeLocation({ engine: 'postgres', url });
  const pool = drainablePool(makePool(url, place, logger), place);
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  return {
    name: 'postgres',
    db,
    // The time at which the statement came in: the same wherever the statement says it, and never ahead of the truth.
    leaseClock: () => sql<number>`cast(floor(extract(epoch from statement_timestamp()) * 1000) as bigint)`,
    changeMark: () => null,
    // Its own checkpoints and autovacuum do it.
    maintain: async () => nothingMaintained,
    close: async () => {
      await pool.drained();
      await db.destroy();
    },
  };
}

function makePool(url: string, place: string, logger?: Logger): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    application_name: 'baton',
    keepAlive: true,
    types: { getTypeParser: parserOf },
  });
  const lost = (error: Error): void => logger?.warn('store_connection_lost', { store: place, error });
  // An error event without a listener would end the daemon. Each connection reports its own end, idle or in use; for the
  // idle ones the pool tells once more. A question that was under way fails by itself.
  pool.on('connect', (client) => client.on('error', lost));
  pool.on('error', () => {});
  return pool;
}

const parserOf: pg.CustomTypesConfig['getTypeParser'] = (oid, format) =>
  oid === int8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format);

/**
 * The pool as Kysely sees it: with errors of the house, and with an end that waits for who has or wants a connection
 * (`pg` would leave the latter waiting until its timeout).
 */
function drainablePool(pool: pg.Pool, place: string): PostgresPool & { drained(): Promise<void> } {
  let users = 0;
  let onDrained: (() => void) | undefined;
  const leave = (): void => {
    users -= 1;
    if (users === 0) onDrained?.();
  };
  const translated = <T>(work: Promise<T>): Promise<T> =>
    work.catch((thrown) => {
      throw postgresError(thrown, place);
    });
  return {
    connect: async () => {
      if (onDrained !== undefined) throw new BatonError('store_unavailable', `The store ${place} is closing.`);
      users += 1;
      const client = await translated(pool.connect()).catch((error) => {
        leave();
        throw error;
      });
      return kyselyClient(client, translated, leave);
    },
    drained: () =>
      new Promise((resolve) => {
        onDrained = resolve;
        if (users === 0) resolve();
      }),
    end: () => pool.end(),
    options: pool.options,
  };
}

function kyselyClient(
  client: pg.PoolClient,
  translated: <T>(work: Promise<T>) => Promise<T>,
  onRelease: () => void,
): PostgresPoolClient {
  let firstError: unknown;
  const query = async (text: string, parameters: readonly unknown[]) => {
    // PostgreSQL would roll back and say only that it did; the error that made it so tells more.
    if (text === 'commit' && firstError !== undefined) throw firstError;
    return await translated(client.query(text, storableParameters(parameters))).catch((error) => {
      firstError ??= error;
      throw error;
    });
  };
  const release = (destroy?: boolean): void => {
    client.release(destroy);
    onRelease();
  };
  // Kysely also asks with cursors, for streams; the store has none.
  return { query, release } as unknown as PostgresPoolClient;
}
