/** The beginning of a text that has at most this number of bytes in UTF-8, with no character cut in half. */
export function cutToBytes(text: string, mostBytes: number): string {
  // A UTF-16 unit has at most three bytes in UTF-8, so most texts need no second check.
  if (text.length * 3 <= mostBytes || Buffer.byteLength(text) <= mostBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(mostBytes));
  return text.slice(0, read);
}

/**
 * PostgreSQL cannot keep the character NUL in text, and the output of agents may contain it. So both engines
 * keep the replacement character in its place, and a store copied from one to the other stays the same.
 */
export function storableParameters(parameters: readonly unknown[]): unknown[] {
  return parameters.map((value) =>
    typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value,
  );
}
