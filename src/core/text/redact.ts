import { BatonError } from '../baton-error.ts';
import { Secret } from './secret.ts';

/**
 * Removes secrets from the output of an agent, before Baton stores or shows it. What must hold: the result has the same
 * shape as the input, and is the very same object where there was nothing to remove; it never throws. It finds a secret
 * that is whole, that JSON has escaped inside a text, or that was cut with at least eight characters left. It cannot
 * find a secret in smaller pieces or in another form (encoded, reversed).
 */
export interface Redactor {
  /** Adds a secret to remove from now on. */
  also(secret: string): void;
  /** Takes JSON data, which may contain errors. */
  redact<T>(value: T): T;
}

/** A secret of fewer characters is left alone: it would be found in any text. */
const shortest = 8;
const shown = '[secret]';
/** Shorter parts of an address are words, such as `services`. */
const longPart = 20;
/** Deeper than anything an agent means to say; deeper values cannot be searched for secrets, so they are not shown. */
const deepest = 100;
const tooDeep = '[too deep]';

export function createRedactor(secrets: Iterable<string>): Redactor {
  let needles = needlesOf(secrets);
  const textOf = (text: string): string => {
    let clean = text;
    for (const needle of needles) clean = withoutSecret(clean, needle);
    return clean;
  };
  return {
    also: (secret) => {
      needles = needlesOf([...needles, secret]);
    },
    // The shape is kept: a text for a text, a list for a list.
    redact: <T>(value: T): T => (needles.length === 0 ? value : (walk(value, textOf, 0) as T)),
  };
}

/** Every secret in some settings, wherever it stands in them. */
export function secretsIn(value: unknown, depth = 0): string[] {
  if (value instanceof Secret) return [value.reveal()];
  if (typeof value !== 'object' || value === null || depth > deepest) return [];
  return Object.values(value).flatMap((each) => secretsIn(each, depth + 1));
}

/** The longest first: one may be a part of another. A key of several lines is searched line by line. */
function needlesOf(secrets: Iterable<string>): readonly string[] {
  const forms = [...secrets].flatMap((secret) => [
    ...[secret.trim(), JSON.stringify(secret.trim()).slice(1, -1)],
    ...secret.split(/\r?\n/).map((line) => line.trim()),
    ...partsOfAddress(secret.trim()),
  ]);
  return [...new Set(forms)].filter(({ length }) => length >= shortest).sort((a, b) => b.length - a.length);
}

/** The parts of a secret address that are secret by themselves: its password, and long parts of its path and its query. */
function partsOfAddress(secret: string): readonly string[] {
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(secret) ? URL.parse(secret) : null;
  if (url === null) return [];
  const { password, pathname, searchParams } = url;
  const parts = [...pathname.split('/'), ...searchParams.values()].filter(({ length }) => length >= longPart);
  return [password, ...parts];
}

function withoutSecret(text: string, secret: string): string {
  if (text.length < shortest) return text;
  const whole = text.includes(secret) ? text.replaceAll(secret, shown) : text;
  return withoutEnd(withoutBegin(whole, secret), secret);
}

/** The text ends in the middle of the secret, with a mark that it was cut or without. */
function withoutEnd(text: string, secret: string): string {
  const end = text.endsWith('…') ? text.length - 1 : text.length;
  const head = secret.slice(0, shortest);
  const longest = secret.length - 1;
  for (let at = text.indexOf(head, Math.max(0, end - longest)); at !== -1; at = text.indexOf(head, at + 1))
    if (secret.startsWith(text.slice(at, end))) return `${text.slice(0, at)}${shown}${text.slice(end)}`;
  return text;
}

/** The text begins in the middle of the secret. */
function withoutBegin(text: string, secret: string): string {
  const tail = secret.slice(-shortest);
  const last = secret.length - 1 - shortest;
  if (last < 0) return text;
  for (let at = text.lastIndexOf(tail, last); at !== -1; at = at === 0 ? -1 : text.lastIndexOf(tail, at - 1))
    if (secret.endsWith(text.slice(0, at + shortest))) return `${shown}${text.slice(at + shortest)}`;
  return text;
}

type TextRule = (text: string) => string;
type Fields = Readonly<Record<string, unknown>>;

function walk(value: unknown, rule: TextRule, depth: number): unknown {
  if (typeof value === 'string') return rule(value);
  if (typeof value !== 'object' || value === null || value instanceof Secret) return value;
  if (depth > deepest) return tooDeep;
  if (value instanceof Error) return walkError(value, rule, depth);
  if (Array.isArray(value)) return walkList(value, rule, depth);
  return walkFields(value as Fields, rule, depth);
}

function walkList(list: readonly unknown[], rule: TextRule, depth: number): readonly unknown[] {
  let copy: unknown[] | null = null;
  for (const [at, each] of list.entries()) {
    const clean = walk(each, rule, depth + 1);
    if (Object.is(clean, each)) continue;
    copy ??= [...list];
    copy[at] = clean;
  }
  return copy ?? list;
}

function walkFields(fields: Fields, rule: TextRule, depth: number): Fields {
  const keys = Object.keys(fields);
  let copy: [string, unknown][] | null = null;
  for (const [at, key] of keys.entries()) {
    const [name, clean] = [rule(key), walk(fields[key], rule, depth + 1)];
    if (copy === null && (name !== key || !Object.is(clean, fields[key])))
      copy = keys.slice(0, at).map((before) => [before, fields[before]]);
    copy?.push([name, clean]);
  }
  return copy === null ? fields : Object.fromEntries(copy);
}

/** An error keeps its code, its trace and its cause. */
function walkError(error: Error, rule: TextRule, depth: number): Error {
  const parts = { message: error.message, stack: error.stack, cause: error.cause, ...partsOf(error) };
  const clean = walkFields(parts, rule, depth) as typeof parts;
  if (clean === parts) return error;
  const options = clean.cause === undefined ? {} : { cause: clean.cause };
  const copy =
    error instanceof BatonError
      ? new BatonError(error, clean.message, { ...options, ...clean.own })
      : Object.assign(new Error(clean.message, options), { name: error.name, ...clean.own });
  if (clean.stack !== undefined) copy.stack = clean.stack;
  return copy;
}

/** The error's own fields that may be written down. */
function partsOf(error: Error): { readonly own: Fields } {
  if (error instanceof BatonError) return { own: { details: error.details, nextStep: error.nextStep } };
  return { own: error instanceof AggregateError ? { errors: error.errors } : {} };
}
