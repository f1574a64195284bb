import type { AgentQuestion, QuestionAnswer, QuestionField, QuestionKind } from '../../core/command/question.ts';
import type { Author } from '../../core/issue/author.ts';
import { recordIn, recordsIn, textIn, valueFromText } from '../read-json.ts';
import type { Database } from '../schema.ts';
import type { GivenAnswer, StoredQuestion } from './questions.ts';

/**
 * A question as it was stored. A row that somebody damaged, or that a later Baton wrote, is still a question that can be
 * listed and closed; and an answer that cannot be read is never a yes.
 */
export function questionFrom(row: Database['questions']): StoredQuestion {
  return {
    id: row.id,
    project: row.project,
    issueId: row.issue_id,
    identifier: row.identifier,
    runId: row.run_id,
    askedAt: row.asked_at,
    question: askedFrom(row.question_json),
    given: givenFrom(row),
    closedAt: row.closed_at,
    deliveredTo: row.delivered_to,
  };
}

const kinds: readonly QuestionKind[] = ['command', 'file_change', 'permission', 'tool', 'input'];
const decisions: readonly QuestionAnswer['decision'][] = ['accept', 'accept_for_session', 'decline'];

function askedFrom(text: string): AgentQuestion {
  const found = recordIn(valueFromText(text));
  return {
    kind: kinds.find((kind) => kind === found.kind) ?? 'input',
    text: textIn(found.text) ?? 'This question could not be read.',
    detail: textIn(found.detail) ?? '',
    fields: recordsIn(found.fields).map(fieldFrom),
  };
}

function fieldFrom(found: Readonly<Record<string, unknown>>): QuestionField {
  const name = textIn(found.name) ?? '';
  const options = Array.isArray(found.options) ? found.options : [];
  return {
    name,
    label: textIn(found.label) ?? name,
    options: options.filter((option) => typeof option === 'string'),
    allowsOther: found.allowsOther === true,
    isSecret: found.isSecret === true,
  };
}

function givenFrom(row: Database['questions']): GivenAnswer | null {
  if (row.answered_at === null) return null;
  const answer = recordIn(valueFromText(row.answer_json));
  const values = Object.entries(recordIn(answer.values));
  return {
    at: row.answered_at,
    author: authorFrom(row.author_json),
    answer: {
      decision: decisions.find((decision) => decision === answer.decision) ?? 'decline',
      values: Object.fromEntries(values.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
    },
  };
}

function authorFrom(text: string | null): Author {
  const { kind, name, runId } = recordIn(valueFromText(text));
  if (kind === 'orchestrator') return { kind };
  if (kind === 'run' && typeof runId === 'string') return { kind, runId };
  return { kind: 'person', name: textIn(name) ?? 'unknown' };
}
