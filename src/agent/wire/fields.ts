/**
 * Tolerant reading of Codex frames: no field has to be present or have its type. A field that is absent or of another
 * type is read as null, so that newer and older versions of Codex are understood as far as possible.
 */
export type Fields = Readonly<Record<string, unknown>>;

const none: Fields = {};

/** The fields of an object; no fields for any other value. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : none;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Any value as text for people. Never throws, unlike `String` for an object with its own `toString`. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A number, or a number written as text (row K4). */
export function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** The value of the first spelling that is present. */
export function firstOf(fields: Fields, ...names: readonly string[]): unknown {
  return names.map((name) => fields[name]).find((value) => value !== undefined && value !== null);
}
