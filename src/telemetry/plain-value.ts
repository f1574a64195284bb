import { BatonError } from '../core/baton-error.ts';
import type { LogFields } from '../core/logger.ts';
import { Secret } from '../core/text/secret.ts';
import type { LogLevel } from './log-level.ts';

/** The names that the line itself uses; a field of that name gets an underscore at its end. */
const reservedNames = new Set(['level', 'time', 'event', 'msg']);

/** A line is for reading. Larger values belong in another file. */
const maxTextLength = 8 * 1024;
const maxEntries = 100;
const maxDepth = 6;

/** The state of the walk through one value. */
interface Walk {
  readonly withStack: boolean;
  /** The objects above the current one; meeting one of them again is a cycle. */
  readonly above: readonly object[];
}

/** The fields as plain data that can always be printed. Never throws. */
export function plainFields(fields: LogFields | undefined, level: LogLevel): Record<string, unknown> {
  if (fields === undefined) return {};
  const withStack = level === 'debug' || level === 'error';
  const plain = plainValue(fields, { withStack, above: [] });
  if (typeof plain !== 'object' || plain === null) return { fields: plain };
  return Object.fromEntries(
    Object.entries(plain).map(([key, value]) => [reservedNames.has(key) ? `${key}_` : key, value]),
  );
}

/** The value as plain data. Getters, `toJSON` and proxies may throw: then the result is `[unreadable]`. */
function plainValue(value: unknown, walk: Walk): unknown {
  try {
    return typeof value === 'object' && value !== null ? plainObject(value, walk) : plainPrimitive(value);
  } catch {
    return '[unreadable]';
  }
}

function plainPrimitive(value: unknown): unknown {
  if (typeof value === 'string') return shorten(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value === 'function') return `[function ${value.name}]`;
  return value;
}

function plainObject(value: object, walk: Walk): unknown {
  if (value instanceof Secret) return String(value);
  if (walk.above.includes(value)) return '[circular]';
  if (walk.above.length >= maxDepth) return '[too deep]';
  const inner = { ...walk, above: [...walk.above, value] };
  if (value instanceof Error) return plainError(value, walk.withStack, (part) => plainValue(part, inner));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if ('toJSON' in value && typeof value.toJSON === 'function') return plainValue(value.toJSON(), inner);
  if (Array.isArray(value) || value instanceof Set) return plainList([...value], inner);
  return plainEntries(value instanceof Map ? [...value.keys()] : Object.keys(value), value, inner);
}

/**
 * An error as fields: its code, its message, the next step, its stack where wanted, and what caused it. `plain` makes
 * the parts printable and ends a chain of causes that is circular or too deep.
 */
function plainError(error: Error, withStack: boolean, plain: (part: unknown) => unknown): Record<string, unknown> {
  const code = 'code' in error ? error.code : undefined;
  return {
    code: plain(code ?? error.name),
    message: plain(error.message),
    ...(error instanceof BatonError ? ownFields(error, plain) : {}),
    ...(withStack ? { stack: plain(error.stack) } : {}),
    // Node reports failed connections this way, with an empty message.
    ...(error instanceof AggregateError ? { errors: plain(error.errors) } : {}),
    ...(error.cause === undefined ? {} : { cause: plain(error.cause) }),
  };
}

function ownFields(error: BatonError, plain: (part: unknown) => unknown): Record<string, unknown> {
  return {
    next_step: plain(error.nextStep),
    retryable: error.retryable,
    ...(Object.keys(error.details).length > 0 ? { details: plain(error.details) } : {}),
  };
}

function plainList(list: readonly unknown[], walk: Walk): unknown[] {
  const shown = list.slice(0, maxEntries).map((entry) => plainValue(entry, walk) ?? null);
  return list.length > maxEntries ? [...shown, `[${list.length - maxEntries} more]`] : shown;
}

function plainEntries(keys: readonly unknown[], owner: object, walk: Walk): Record<string, unknown> {
  const shown = keys.slice(0, maxEntries).map((key): [string, unknown] => [String(key), plainEntry(owner, key, walk)]);
  if (keys.length > maxEntries) shown.push(['more_keys', keys.length - maxEntries]);
  return Object.fromEntries(shown);
}

/** Catches each entry alone, so that one bad getter loses one field and not the whole object. */
function plainEntry(owner: object, key: unknown, walk: Walk): unknown {
  try {
    return plainValue(owner instanceof Map ? owner.get(key) : Reflect.get(owner, String(key)), walk);
  } catch {
    return '[unreadable]';
  }
}

function shorten(text: string): string {
  if (text.length <= maxTextLength) return text;
  return `${text.slice(0, maxTextLength)}… [${text.length - maxTextLength} more characters]`;
}
