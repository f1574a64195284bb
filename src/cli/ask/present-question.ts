import type { StoredQuestion } from '../../store/questions.ts';
import type { QuestionState } from './question-state.ts';

/** A question as other programs get it. */
export function presentQuestion(stored: StoredQuestion, { state, waitsUntil }: QuestionState): Record<string, unknown> {
  const { question, given } = stored;
  return {
    id: stored.id,
    issue_id: stored.issueId,
    issue_identifier: stored.identifier,
    run_id: stored.runId,
    kind: question.kind,
    text: question.text,
    detail: question.detail,
    fields: question.fields.map(({ name, label, options, allowsOther, isSecret }) => ({
      ...{ name, label, options, allows_other: allowsOther, is_secret: isSecret },
    })),
    asked_at: iso(stored.askedAt),
    state,
    waits_until: iso(waitsUntil),
    answered_at: iso(given?.at ?? null),
    answered_by: given?.author ?? null,
    answer: given?.answer ?? null,
    told_to_run: stored.deliveredTo,
    closed_at: iso(stored.closedAt),
  };
}

function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
