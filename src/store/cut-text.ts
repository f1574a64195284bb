/** The beginning of a text that is at most so many bytes in UTF-8, with no character cut in half. */
export function cutToBytes(text: string, mostBytes: number): string {
  // No character has more than three bytes a unit, so most texts need no second look.
  if (text.length * 3 <= mostBytes || Buffer.byteLength(text) <= mostBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(mostBytes));
  return text.slice(0, read);
}
