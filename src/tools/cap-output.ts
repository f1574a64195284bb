/** More than this is of no use to an agent, and would push everything else out of its context. */
export const mostOutputBytes = 256 * 1_024;

/** The text, or its beginning with a note that tells how much is missing. It is never cut inside of a character. */
export function capOutput(text: string): string {
  // A UTF-16 unit is at most three bytes of UTF-8: most texts are not measured at all.
  if (text.length * 3 <= mostOutputBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= mostOutputBytes) return text;
  const kept = new TextDecoder().decode(bytes.subarray(0, mostOutputBytes), { stream: true });
  return `${kept}\n[cut by Baton: the first ${mostOutputBytes} of ${bytes.length} bytes; ask for less]`;
}
