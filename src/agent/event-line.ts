import { harmlessLine } from '../core/text/harmless-line.ts';

/** How much of an agent's text an event shows; the rest is in the transcript. */
const longestSummary = 200;

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding the sequences is the purpose.
const colours = /\u001b\[[0-9;:]*m/g;

/** An agent's output as one harmless line of limited length. Colours go; they enclose no text. */
export function eventLine(text: string): string {
  const plain = harmlessLine(text.replaceAll(colours, ''));
  return plain.length <= longestSummary ? plain : `${plain.slice(0, longestSummary - 1)}…`;
}
