import { BatonError } from '../../core/baton-error.ts';
import type { ErrorCode } from '../../core/error-catalogue.ts';

/** SQLSTATE codes and classes (postgresql.org/docs/current/errcodes-appendix.html) that have a meaning of their own here. */
const codeOfState: Readonly<Record<string, ErrorCode>> = {
  '08': 'store_unavailable', // connection exceptions
  '23': 'store_constraint',
  '25006': 'store_not_writable', // read only transaction: a standby, most often
  '28': 'store_access_denied',
  '3D000': 'store_access_denied', // no such database
  '40001': 'store_busy', // serialization failure
  '40P01': 'store_busy', // deadlock
  '42P07': 'store_foreign', // a table of that name is there, and no store: of another program
  '42501': 'store_not_writable', // insufficient privilege
  '53100': 'store_full',
  '53300': 'store_unavailable', // too many connections
  '55P03': 'store_busy', // lock timeout
  '57014': 'store_busy', // statement timeout
  '57P': 'store_unavailable', // shut down, crashed, starting
  '58030': 'store_full', // I/O error: what PostgreSQL says when the log cannot be written
  XX001: 'store_corrupt',
  XX002: 'store_corrupt',
};

const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ENOENT',
]);

/** What `pg` says, without a code, when the connection was lost or could not be had in time. */
const lostConnection = /connection terminated|timeout exceeded when trying to connect|connection ended|not queryable/i;

/** Whatever `pg` threw, as an error of the house that names the server and never the password. */
export function postgresError(thrown: unknown, place: string): BatonError {
  if (thrown instanceof BatonError) return thrown;
  const message = messageOf(thrown);
  return new BatonError(codeOf(thrown, message), `${message} (${place})`, { cause: thrown, details: { store: place } });
}

/** A host with several addresses fails with all of them at once, and the sum has no message. */
function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') return thrown.errors.map(messageOf).join('; ');
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function codeOf(thrown: unknown, message: string): ErrorCode {
  if (lostConnection.test(message)) return 'store_unavailable';
  if (!(thrown instanceof Error) || !('code' in thrown)) return 'store_failed';
  const code = String(thrown.code);
  if (unreachable.has(code)) return 'store_unavailable';
  return codeOfState[code] ?? codeOfState[code.slice(0, 3)] ?? codeOfState[code.slice(0, 2)] ?? 'store_failed';
}
