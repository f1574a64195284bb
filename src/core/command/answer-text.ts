import { harmlessLine } from '../text/harmless-line.ts';
import type { AgentQuestion, QuestionAnswer } from './question.ts';

/**
 * The answers of people, as text for an agent. The question is quoted for an agent that has forgotten it. A person's
 * text is trusted and stays unchanged, line by line.
 */
export function answersText(
  answers: readonly { readonly question: AgentQuestion; readonly answer: QuestionAnswer }[],
): string {
  const what = answers.length === 1 ? 'A person answered your question:' : 'A person answered your questions:';
  return [what, ...answers.map(({ question, answer }) => answerText(question, answer))].join('\n\n');
}

/** The line of a question, by which an agent finds the answer below it. */
export function questionLine(text: string): string {
  return `- Question: ${harmlessLine(text)}`;
}

function answerText(question: AgentQuestion, answer: QuestionAnswer): string {
  return [questionLine(question.text), ...answerLines(question, answer).flatMap(indented)].join('\n');
}

/** A question with fields is answered by their values, any other by yes or no. */
function answerLines({ fields }: AgentQuestion, { decision, values }: QuestionAnswer): string[] {
  if (decision === 'decline') return [fields.length === 0 ? 'Answer: no' : 'Answer: none; decide without it'];
  // Another session reads this, so an approval for the whole earlier session counts once only.
  if (fields.length === 0) return ['Answer: yes'];
  return fields.map(({ name, label }) => `${harmlessLine(label) || name}: ${values[name] ?? '(not answered)'}`);
}

function indented(text: string): string[] {
  return text.split(/\r?\n/).map((line) => `  ${line}`);
}
