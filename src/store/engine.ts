import type { Kysely, RawBuilder } from 'kysely';
import type { Database } from './schema.ts';
import type { StoreUpkeep } from './store-upkeep.ts';

/** A database that is open: what differs between the two engines, and nothing else, is in here. */
export interface Engine {
  readonly name: 'sqlite' | 'postgres';
  readonly db: Kysely<Database>;
  /**
   * The time that leases are measured with, as SQL. One machine's own clock is enough for SQLite; with PostgreSQL many
   * machines compare leases, so only the server's clock counts, whatever the caller says.
   */
  leaseClock(callersAt: number): RawBuilder<number>;
  /**
   * A word that is another one after anybody, here or elsewhere, may have written to the table: while it is the same, what
   * was read before is still so. Null where the engine cannot tell without being asked as long as for the rows themselves.
   */
  changeMark(table: keyof Database): string | null;
  maintain(): Promise<StoreUpkeep>;
  close(): Promise<void>;
}
