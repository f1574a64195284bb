import type { Kysely, RawBuilder } from 'kysely';
import type { Database } from './schema.ts';

/** An open database. All that differs between the two engines is in here, and nothing else. */
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
   * were read before are still valid. Null where the engine cannot say so in less time than it reads the rows.
   */
  changeMark(table: keyof Database): string | null;
  maintain(): Promise<StoreUpkeep>;
  close(): Promise<void>;
}

/** The result of upkeep. */
export interface StoreUpkeep {
  /** The pages of the write-ahead log; 0 where there is none. */
  readonly walPages: number;
  /** Of these, how many are in the file itself now. */
  readonly checkpointed: number;
  /** Another connection read or wrote just then: the rest is for the next time. No error. */
  readonly busy: boolean;
}

export const noUpkeep: StoreUpkeep = { walPages: 0, checkpointed: 0, busy: false };
