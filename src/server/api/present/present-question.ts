import type { Question } from '../../../client/schema/question.ts';
import { certainTime, timeText } from '../../../core/text/time-text.ts';
import type { ReadModel } from '../../../orchestrator/view/read-model.ts';
import type { StoredQuestion } from '../../../store/tables/words/questions.ts';
import type { ApiProject } from '../api-project.ts';
import { presentAuthor } from './present-command.ts';

/** Questions for the API; the read model knows whether an agent is waiting for an answer now. */
export function presentQuestions(
  questions: readonly StoredQuestion[],
  { tables }: { readonly tables: { readonly runs: Pick<ApiProject['tables']['runs'], 'read'> } },
  { questions: waiting }: Pick<ReadModel, 'questions'>,
): Promise<Question[]> {
  return Promise.all(
    questions.map(async (stored) => {
      const until = isOpen(stored) ? (waiting.find(({ id }) => id === stored.id)?.until ?? null) : null;
      const isWaiting = isOpen(stored) && until === null;
      const run = isWaiting ? await tables.runs.read(stored.runId) : null;
      return presentQuestion(stored, until, (run?.finish ?? null) !== null);
    }),
  );
}

function presentQuestion(stored: StoredQuestion, waitsUntil: number | null, hasRunEnded: boolean): Question {
  const { question, given } = stored;
  const state = isOpen(stored) ? 'open' : given === null ? 'closed' : 'answered';
  const open = waitsUntil !== null ? 'agent_waits' : hasRunEnded ? 'run_ended' : 'unattended';
  return {
    id: stored.id,
    issue_id: stored.issueId,
    issue_identifier: stored.identifier,
    run_id: stored.runId,
    kind: question.kind,
    text: question.text,
    detail: question.detail,
    fields: question.fields.map(({ name, label, options, allowsOther, isSecret }) => ({
      name,
      label,
      options: [...options],
      allows_other: allowsOther,
      is_secret: isSecret,
    })),
    asked_at: certainTime(stored.askedAt),
    state,
    standing: state === 'open' ? open : state,
    waits_until: timeText(waitsUntil),
    answer:
      given === null
        ? null
        : {
            decision: given.answer.decision,
            values: { ...given.answer.values },
            at: certainTime(given.at),
            author: presentAuthor(given.author),
            delivered_to: stored.deliveredTo,
          },
    closed_at: timeText(stored.closedAt),
  };
}

export function isOpen({ given, closedAt }: Pick<StoredQuestion, 'given' | 'closedAt'>): boolean {
  return given === null && closedAt === null;
}
