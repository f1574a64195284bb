/** JSON that was stored, read so that damaged text is no error: whoever reads says what it takes instead. */
export function valueFromText(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** An object, or an empty one in the place of anything else. */
export function recordIn(value: unknown): Readonly<Record<string, unknown>> {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  // Its members are unknown, and whoever uses one looks at it first.
  return isRecord ? (value as Record<string, unknown>) : {};
}

/** The objects in a list, or none. */
export function recordsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return [];
  return value.filter((each) => typeof each === 'object' && each !== null).map(recordIn);
}

export function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A number that can be reckoned with. */
export function numberIn(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
