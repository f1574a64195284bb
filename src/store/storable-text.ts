/**
 * PostgreSQL cannot keep the character NUL in text, and what agents print may hold it. So both engines keep the
 * replacement character in its place, and a store copied from one to the other stays the same.
 */
export function storableParameters(parameters: readonly unknown[]): unknown[] {
  return parameters.map((value) =>
    typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value,
  );
}
