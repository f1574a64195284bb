import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Clock } from '../../clock/clock.ts';
import type { BatonError } from '../../core/baton-error.ts';
import { storableParameters } from '../storable-text.ts';
import { sqliteError } from './sqlite-errors.ts';
import type { TableWrites } from './table-writes.ts';
import { whenFree } from './when-free.ts';

/** Prepared statements kept; the store has far fewer texts than this, except for lists of varying length. */
const cachedStatements = 200;

/** Kysely over `node:sqlite`. Kysely gives the one connection to one transaction or query at a time. */
export function sqliteDialect(database: DatabaseSync, file: string, clock: Clock, writes: TableWrites): Dialect {
  return {
    createDriver: () => sqliteDriver(database, new SqliteConnection(database, file, clock, writes)),
    createAdapter: () => new SqliteAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

function sqliteDriver(database: DatabaseSync, connection: SqliteConnection): Driver {
  const run = async (text: string): Promise<void> => {
    await connection.executeQuery(CompiledQuery.raw(text));
  };
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    // Immediate: a transaction that reads first and writes later could otherwise fail with BUSY in its middle.
    beginTransaction: () => run('begin immediate'),
    commitTransaction: async () => {
      if (connection.failedInside !== null) throw connection.failedInside;
      await run('commit');
    },
    // After a full disk SQLite has rolled back by itself; asking again would hide the true error behind a second one.
    rollbackTransaction: async () => (database.isTransaction ? run('rollback') : undefined),
    destroy: async () => database.close(),
  };
}

interface Prepared {
  readonly statement: StatementSync;
  readonly givesRows: boolean;
  readonly isRead: boolean;
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #clock: Clock;
  readonly #writes: TableWrites;
  readonly #prepared = new Map<string, Prepared>();

  /**
   * The first error of the transaction that is open. PostgreSQL never commits after one, even if the caller caught it;
   * SQLite would, so that half of a transaction could be kept on one engine only.
   */
  failedInside: BatonError | null = null;

  constructor(database: DatabaseSync, file: string, clock: Clock, writes: TableWrites) {
    this.#database = database;
    this.#file = file;
    this.#clock = clock;
    this.#writes = writes;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    // Inside a transaction the write lock is ours, so only what begins one, or stands alone, ever has to wait.
    if (!this.#database.isTransaction) {
      this.failedInside = null;
      return whenFree(this.#clock, this.#file, () => this.#execute<Row>(query));
    }
    try {
      return this.#execute<Row>(query);
    } catch (thrown) {
      const error = sqliteError(thrown, this.#file);
      this.failedInside ??= error;
      throw error;
    }
  }

  #execute<Row>(query: CompiledQuery): QueryResult<Row> {
    const { statement, givesRows, isRead } = this.#prepare(query.sql);
    // The tables give text, numbers and null only.
    const parameters = storableParameters(query.parameters) as SQLInputValue[];
    try {
      // The types of rows are Kysely's, from the schema.
      if (givesRows) return { rows: statement.all(...parameters) as Row[] };
      const { changes } = statement.run(...parameters);
      return { rows: [], numAffectedRows: BigInt(changes) };
    } finally {
      if (!isRead) this.#writes.note(query.sql);
    }
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    const made = { statement, givesRows: statement.columns().length > 0, isRead: /^\s*select\b/i.test(text) };
    if (this.#prepared.size >= cachedStatements) this.#prepared.clear();
    this.#prepared.set(text, made);
    return made;
  }

  // biome-ignore lint/correctness/useYield: Kysely asks for it; the store reads in pages and has no streams.
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('the store has no streams');
  }
}
