import type { AgentQuestion, QuestionAnswer } from '../command/question.ts';

/** The kinds that are answered by yes or no and let something be done. */
const approvals: ReadonlySet<AgentQuestion['kind']> = new Set(['command', 'file_change', 'permission', 'tool']);

/** What a backend puts where it left something out. */
const cut = '…';

/**
 * Whether a yes that came after its run had ended also answers this request of the next run. What must hold: it is the
 * same request, word for word; and all of it was there to be read. What was cut, or told no details, may differ where
 * nobody saw it, and is asked again.
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
