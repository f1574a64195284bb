import type { Kysely, RawBuilder } from 'kysely';
import type { Database } from './schema.ts';

/** An open database: everything in which the two engines differ. */
export interface Engine {
  readonly name: 'sqlite' | 'postgres';
  readonly db: Kysely<Database>;
  /**
   * The time that leases are measured with, as SQL. One machine's own clock is enough for SQLite; with PostgreSQL many
   * machines compare leases, so only the server's clock counts, whatever the caller says.
   */
  leaseClock(callersAt: number): RawBuilder<number>;
  /**
   * A mark that changes whenever this or another process may have written to the table: while it is the same, rows that
   * were read before are still valid. Null when reading the rows is as fast as this check.
   */
  changeMark(table: keyof Database): string | null;
  maintain(): Promise<MaintenanceResult>;
  close(): Promise<void>;
}

/** The result of maintenance. */
export interface MaintenanceResult {
  /** The pages of the write-ahead log; 0 where there is none. */
  readonly walPages: number;
  /** How many of these are in the file itself now. */
  readonly checkpointed: number;
  /** Another connection was reading or writing: the next maintenance does the rest. This is not an error. */
  readonly busy: boolean;
}

export const nothingMaintained: MaintenanceResult = { walPages: 0, checkpointed: 0, busy: false };
