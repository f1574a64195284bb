import { harmlessLine } from '../core/text/harmless-line.ts';

/** How much of an agent's text an event shows; the rest is in the transcript. */
const longestSummary = 200;

/** An agent's output as one harmless line of limited length. */
export function eventLine(text: string): string {
  const plain = harmlessLine(text);
  return plain.length <= longestSummary ? plain : `${plain.slice(0, longestSummary - 1)}…`;
}
