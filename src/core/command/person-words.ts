import { harmlessLine } from '../text/harmless-line.ts';
import type { AgentQuestion, QuestionAnswer } from './question.ts';

/** The full text is in its original place. */
const longestWords = 400;

/** A person's text as one harmless line, cut where it is long. */
export function shortWords(text: string): string {
  const line = harmlessLine(text);
  return line.length <= longestWords ? line : `${line.slice(0, longestWords).toWellFormed()}…`;
}

/** The answer of a person in their own words, without secrets. */
export function wordsOfAnswer({ fields }: AgentQuestion, { decision, values }: QuestionAnswer): string {
  if (decision === 'decline') return 'no';
  if (fields.length === 0) return decision === 'accept' ? 'yes' : 'yes, always';
  return fields
    .map(({ name, isSecret }) => (isSecret ? '[secret]' : (values[name] ?? '')))
    .filter((words) => words.trim() !== '')
    .join(', ');
}
