import type { Kysely } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/**
 * One step of the schema, forward only. A released one is never changed: stores exist that have run it.
 * Its database is untyped, because the types describe the schema after the last step.
 */
export interface Migration {
  readonly name: string;
  up(db: Kysely<unknown>, types: ColumnTypes): Promise<void>;
}
