import { BatonError } from '../../core/baton-error.ts';
import type { ErrorCode } from '../../core/error-catalogue.ts';

/** Primary result codes of SQLite (sqlite.org/rescode.html) that have a meaning of their own here. */
const codeOfPrimary: Readonly<Record<number, ErrorCode>> = {
  3: 'store_not_writable', // PERM
  5: 'store_busy', // BUSY, after the busy timeout
  6: 'store_busy', // LOCKED
  8: 'store_not_writable', // READONLY
  11: 'store_corrupt', // CORRUPT
  13: 'store_full', // FULL
  14: 'store_not_writable', // CANTOPEN
  19: 'store_constraint', // CONSTRAINT
  23: 'store_not_writable', // AUTH
  26: 'store_corrupt', // NOTADB
};

/** SQLITE_IOERR_SHMSIZE: the shared memory file of the database could not grow, which only a full disk does. */
const sharedMemoryCannotGrow = 4874;

const codeOfSystemError: Readonly<Record<string, ErrorCode>> = {
  EACCES: 'store_not_writable',
  EPERM: 'store_not_writable',
  EROFS: 'store_not_writable',
  ENOTDIR: 'store_not_writable',
  EISDIR: 'store_not_writable',
  EEXIST: 'store_not_writable',
  ENOENT: 'store_not_writable',
  ENAMETOOLONG: 'store_not_writable',
  ENOSPC: 'store_full',
  EDQUOT: 'store_full',
};

/** Whatever SQLite or the file system threw, as an error of the house that names the file. */
export function sqliteError(thrown: unknown, file: string): BatonError {
  if (thrown instanceof BatonError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new BatonError(codeOf(thrown), `${message} (${file})`, { cause: thrown, details: { file } });
}

function codeOf(thrown: unknown): ErrorCode {
  if (!(thrown instanceof Error)) return 'store_failed';
  if ('errcode' in thrown && typeof thrown.errcode === 'number') {
    if (thrown.errcode === sharedMemoryCannotGrow) return 'store_full';
    return codeOfPrimary[thrown.errcode & 0xff] ?? 'store_failed';
  }
  return ('code' in thrown && codeOfSystemError[String(thrown.code)]) || 'store_failed';
}
