import type { Author } from '../core/issue/author.ts';

/** Both engines store JSON as text. Null stays null, and undefined, which JSON does not have, becomes null. */
export function toJsonText(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

export function fromJsonText(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}

/** Only `toJsonText` of an Author writes this text. */
export function authorFrom(text: string): Author {
  return JSON.parse(text) as Author;
}

/** Reads stored JSON; damaged text becomes null, and the caller chooses a replacement. */
export function valueFromText(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The value if it is an object, otherwise an empty object. */
export function recordIn(value: unknown): Readonly<Record<string, unknown>> {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  // Its members are unknown; callers check each one.
  return isRecord ? (value as Record<string, unknown>) : {};
}

/** The objects in a list; empty for any other value. */
export function recordsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return [];
  return value.filter((each) => typeof each === 'object' && each !== null).map(recordIn);
}

/** A list of texts, as `JSON.stringify` wrote it. */
export function textsFrom(text: string): readonly string[] {
  const value = valueFromText(text);
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

export function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A finite number. */
export function numberIn(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
