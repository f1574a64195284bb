import type { AgentQuestion, QuestionAnswer } from '../command/question.ts';

/** The kinds that are answered by yes or no and let something be done. */
const approvals: ReadonlySet<AgentQuestion['kind']> = new Set(['command', 'file_change', 'permission', 'tool']);

/** The sign with which a backend marks omitted text. */
const cut = '…';

/**
 * Whether an approval that came after its run had ended also answers this request of the next run. What must hold: it
 * is the same request, word for word, and the person could read all of it. A request that was cut or came without
 * details may differ in the part the person did not see, so it is asked again.
 */
export function allowsAgain(
  { question, answer }: { readonly question: AgentQuestion; readonly answer: QuestionAnswer },
  asked: AgentQuestion,
): boolean {
  if (answer.decision === 'decline' || !approvals.has(asked.kind)) return false;
  if (question.fields.length > 0 || asked.fields.length > 0) return false;
  if (question.kind !== asked.kind || question.text !== asked.text || question.detail !== asked.detail) return false;
  return asked.detail.trim() !== '' && !asked.detail.endsWith(cut) && !asked.text.endsWith(cut);
}
