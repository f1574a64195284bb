import type { AgentQuestion, QuestionAnswer } from '../command/question.ts';

/** The kinds that are answered by yes or no and let something be done. */
const approvals: ReadonlySet<AgentQuestion['kind']> = new Set(['command', 'file_change', 'permission', 'tool']);

/**
 * Whether an approval that came after its run had ended also answers this request of the next run. What must hold: it
 * is the same request, byte for byte, by the digest of the raw one, and the person could read it. What the person saw
 * is not compared: words that are made for people could be the same for two requests.
 */
export function allowsAgain(
  { question, answer }: { readonly question: AgentQuestion; readonly answer: QuestionAnswer },
  asked: AgentQuestion,
): boolean {
  if (answer.decision === 'decline' || !approvals.has(asked.kind) || question.kind !== asked.kind) return false;
  if (question.fields.length > 0 || asked.fields.length > 0 || question.detail.trim() === '') return false;
  return asked.requestHash !== undefined && question.requestHash === asked.requestHash;
}
