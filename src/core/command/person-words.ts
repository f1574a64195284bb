import { harmlessLine } from '../text/harmless-line.ts';
import type { AgentQuestion, QuestionAnswer } from './question.ts';

/** More is read where it was said. */
const longestWords = 400;

/** What a person said as one harmless line, cut where it is long. */
export function shortWords(text: string): string {
  const line = harmlessLine(text);
  return line.length <= longestWords ? line : `${line.slice(0, longestWords).toWellFormed()}…`;
}

/** What a person answered, in their own words; never what is secret. */
export function wordsOfAnswer({ fields }: AgentQuestion, { decision, values }: QuestionAnswer): string {
  if (decision === 'decline') return 'no';
  if (fields.length === 0) return decision === 'accept' ? 'yes' : 'yes, always';
  return fields
    .map(({ name, isSecret }) => (isSecret ? '[secret]' : (values[name] ?? '')))
    .filter((words) => words.trim() !== '')
    .join(', ');
}
