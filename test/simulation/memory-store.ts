import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { type Dialect, Kysely, sql } from 'kysely';
import type { Clock } from '../../src/clock/clock.ts';
import { type Engine, nothingMaintained } from '../../src/store/engine.ts';
import { migrate } from '../../src/store/migrations/migrate.ts';
import type { Database } from '../../src/store/schema.ts';
import { sqliteDialect } from '../../src/store/sqlite/sqlite-dialect.ts';
import { TableWrites } from '../../src/store/sqlite/table-writes.ts';
import { type Store, storeOver } from '../../src/store/store.ts';

const place = 'the memory';

/**
 * The real store with SQL and transactions, on a database in memory. It survives every kill of a daemon, and the
 * rules read it directly and synchronously, so they see the state between two steps and change no order.
 */
export class MemoryStore {
  readonly store: Store;
  readonly #database: DatabaseSync;
  readonly #looks = new Map<string, StatementSync>();
  /** Called right after each transaction, before any other code runs. */
  onCommit: () => void = () => {};

  private constructor(database: DatabaseSync, clock: Clock, isShared: boolean) {
    this.#database = database;
    const engine = engineOver(database, clock, isShared, () => this.onCommit());
    this.store = storeOver(engine);
  }

  /** A shared store measures leases by the clock of its server, a file by that of the daemon. */
  static async open(clock: Clock, isShared: boolean): Promise<MemoryStore> {
    const database = new DatabaseSync(':memory:', { enableForeignKeyConstraints: true });
    database.deserialize(await migratedImage(clock));
    database.exec('pragma foreign_keys = on');
    return new MemoryStore(database, clock, isShared);
  }

  /** The rows of a query; the texts are constant, so each is prepared once. */
  look<Row>(text: string, ...values: readonly SQLInputValue[]): Row[] {
    let statement = this.#looks.get(text);
    if (statement === undefined) {
      statement = this.#database.prepare(text);
      this.#looks.set(text, statement);
    }
    // The caller knows the columns of its query.
    return statement.all(...values) as Row[];
  }

  /** Grows with every written row. */
  get changes(): number {
    return this.look<{ changes: number }>('select total_changes() as changes')[0]?.changes ?? 0;
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  close(): void {
    this.#database.close();
  }
}

function engineOver(database: DatabaseSync, clock: Clock, isShared: boolean, onCommit: () => void): Engine {
  const writes = new TableWrites();
  return {
    name: 'sqlite',
    db: new Kysely<Database>({ dialect: withOnCommit(sqliteDialect(database, place, clock, writes), onCommit) }),
    // There is one connection, so no other code writes.
    changeMark: (table) => String(writes.of(table)),
    // The clock of the one server runs evenly, whatever the wall clocks of the daemons do.
    leaseClock: (callersAt) => sql<number>`${sql.val(isShared ? serverTime(clock) : callersAt)}`,
    // A database in memory needs no upkeep.
    maintain: async () => nothingMaintained,
    close: async () => {},
  };
}

function withOnCommit(dialect: Dialect, onCommit: () => void): Dialect {
  const createDriver = (): ReturnType<Dialect['createDriver']> => {
    const driver = dialect.createDriver();
    const commitTransaction: typeof driver.commitTransaction = async (connection) => {
      await driver.commitTransaction(connection);
      onCommit();
    };
    return { ...driver, commitTransaction };
  };
  return { ...dialect, createDriver };
}

/** The time by which leases are measured. */
function serverTime(clock: Clock): number {
  return Date.UTC(2026, 0, 1) + clock.monotonic();
}

let image: Promise<Uint8Array> | undefined;

/** An empty store of the current version, created once: each seed starts with a copy. */
function migratedImage(clock: Clock): Promise<Uint8Array> {
  const make = async (): Promise<Uint8Array> => {
    const database = new DatabaseSync(':memory:', { enableForeignKeyConstraints: true });
    await migrate(
      engineOver(database, clock, false, () => {}),
      place,
      clock,
    );
    return database.serialize();
  };
  image ??= make();
  return image;
}
