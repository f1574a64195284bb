/** How much of an agent's words an event shows; the rest is in the transcript. */
const longestSummary = 200;

/** An agent's output as one harmless line for people: no control characters, no terminal escapes, not too long. */
export function eventLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the purpose.
  const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)/g;
  const plain = text
    .replaceAll(escapes, '')
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return plain.length <= longestSummary ? plain : `${plain.slice(0, longestSummary - 1)}…`;
}
