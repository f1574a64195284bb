import { presentAsked } from '../../server/api/present/present-question.ts';
import type { StoredQuestion } from '../../store/tables/questions.ts';
import type { QuestionState } from './question-state.ts';

/** A question as other programs get it. */
export function presentQuestion(stored: StoredQuestion, { state, waitsUntil }: QuestionState): Record<string, unknown> {
  const { given } = stored;
  return {
    ...presentAsked(stored),
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
