import type { ReadModel } from '../../../orchestrator/view/read-model.ts';
import type { StoredQuestion } from '../../../store/tables/questions.ts';
import type { Question } from '../schema/question.ts';
import { timeText } from '../time-text.ts';
import { certainTime } from './certain-time.ts';
import { presentAuthor } from './present-command.ts';

/** A question as every answer has it; the read model knows whether somebody waits for it just now. */
export function presentQuestion(stored: StoredQuestion, { questions }: Pick<ReadModel, 'questions'>): Question {
  const { given, closedAt } = stored;
  const isOpen = given === null && closedAt === null;
  const waiting = isOpen ? questions.find(({ id }) => id === stored.id) : undefined;
  return {
    ...presentAsked(stored),
    state: isOpen ? 'open' : given === null ? 'closed' : 'answered',
    waits_until: timeText(waiting?.until ?? null),
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
  };
}

type Asked = Omit<Question, 'state' | 'waits_until' | 'answer'>;

/** What was asked, whatever became of it. */
export function presentAsked({ question, ...stored }: StoredQuestion): Asked {
  return {
    id: stored.id,
    issue_id: stored.issueId,
    issue_identifier: stored.identifier,
    run_id: stored.runId,
    kind: question.kind,
    text: question.text,
    detail: question.detail,
    fields: question.fields.map(({ name, label, options, allowsOther, isSecret }) => ({
      ...{ name, label, options: [...options], allows_other: allowsOther, is_secret: isSecret },
    })),
    asked_at: certainTime(stored.askedAt),
  };
}
