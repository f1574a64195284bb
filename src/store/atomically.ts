import type { Kysely } from 'kysely';
import type { Database } from './schema.ts';

/** Runs several statements as one: inside the transaction that is open already, or in one of their own. */
export function atomically<T>(db: Kysely<Database>, work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}
