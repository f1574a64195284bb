import type { Kysely, SelectQueryBuilder } from 'kysely';
import { BatonError } from '../../core/baton-error.ts';
import type { Engine } from '../engine.ts';
import type { Database } from '../schema.ts';

/**
 * Reads a row that nobody else can change or lock before the transaction ends; who has it now is waited for, and what
 * they made of it is what is read. On SQLite a transaction is alone from its beginning (it begins immediate).
 */
export async function lockedRow<Table extends keyof Database, Row>(
  db: Kysely<Database>,
  engine: Engine['name'],
  wanted: SelectQueryBuilder<Database, Table, Row>,
): Promise<Row | undefined> {
  // Outside, the lock would end with the statement and whoever relied on it would not notice.
  if (!db.isTransaction) throw new BatonError('internal_error', 'a lock holds only inside a transaction');
  return (await (engine === 'postgres' ? wanted.forUpdate() : wanted).executeTakeFirst()) as Row | undefined;
}
