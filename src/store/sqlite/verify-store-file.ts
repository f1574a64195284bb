import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { BatonError } from '../../core/baton-error.ts';
import { refuseDamaged, refuseForeign } from './check-sqlite.ts';
import { sqliteError } from './sqlite-errors.ts';

/** Throws unless the file is a whole store that this Baton can read. Changes nothing. */
export function verifyStoreFile(file: string): void {
  if (!existsSync(file)) throw new BatonError('store_backup_failed', `there is no file ${file}`);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    if (refuseForeign(database, file) === 0) {
      throw new BatonError('store_backup_failed', `${file} holds no store`);
    }
    refuseDamaged(database, file, 'integrity_check');
  } catch (thrown) {
    throw sqliteError(thrown, file);
  } finally {
    database?.close();
  }
}
