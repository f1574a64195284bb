import type { Kysely } from 'kysely';
import type { AgentQuestion, QuestionAnswer, QuestionField, QuestionKind } from '../../../core/command/question.ts';
import type { Author } from '../../../core/issue/author.ts';
import type { IssueKey } from '../../issue-key.ts';
import { recordIn, recordsIn, textIn, valueFromText } from '../../json.ts';
import type { Database } from '../../schema.ts';
import { changedOne, changedRows, countIn, inParts, ofIssue } from '../statements.ts';

export interface QuestionDraft extends IssueKey {
  readonly id: string;
  readonly identifier: string;
  readonly runId: string;
  readonly askedAt: number;
  readonly question: AgentQuestion;
}

export interface GivenAnswer {
  readonly at: number;
  readonly author: Author;
  readonly answer: QuestionAnswer;
}

export interface StoredQuestion extends QuestionDraft {
  /** Null while it is open, or when it was closed without one. */
  readonly given: GivenAnswer | null;
  readonly closedAt: number | null;
  /** The run that received the answer. */
  readonly deliveredTo: string | null;
}

/**
 * Questions of agents to people. A question is open until it is answered or closed; an answer that came too late for the
 * run that asked is for the next one, which marks it as delivered.
 */
export function questionsTable(db: Kysely<Database>) {
  const old = (before: number) =>
    db
      .selectFrom('questions')
      .where('asked_at', '<', before)
      .where((eb) => eb.or([eb('closed_at', 'is not', null), eb('answered_at', '<', before)]));
  const openOnes = () => db.updateTable('questions').where('answered_at', 'is', null).where('closed_at', 'is', null);
  return {
    ask: async (draft: QuestionDraft): Promise<void> => {
      await db
        .insertInto('questions')
        .values({
          id: draft.id,
          project: draft.project,
          issue_id: draft.issueId,
          identifier: draft.identifier,
          run_id: draft.runId,
          asked_at: draft.askedAt,
          question_json: JSON.stringify(draft.question),
        })
        .execute();
    },

    read: async (id: string): Promise<StoredQuestion | null> => {
      const row = await db.selectFrom('questions').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : questionFrom(row);
    },

    /** Those that wait for an answer, the oldest first. */
    open: async (project: string): Promise<readonly StoredQuestion[]> => {
      const rows = await db
        .selectFrom('questions')
        .selectAll()
        .where('project', '=', project)
        .where('answered_at', 'is', null)
        .where('closed_at', 'is', null)
        .orderBy('asked_at')
        .orderBy('id')
        .execute();
      return rows.map(questionFrom);
    },

    /** Newest first, answered and closed ones too. */
    list: async (
      project: string,
      query: { readonly issueId?: string; readonly limit: number },
    ): Promise<readonly StoredQuestion[]> => {
      let wanted = db
        .selectFrom('questions')
        .selectAll()
        .where('project', '=', project)
        .orderBy('asked_at', 'desc')
        .orderBy('id', 'desc')
        .limit(query.limit);
      if (query.issueId !== undefined) wanted = wanted.where('issue_id', '=', query.issueId);
      return (await wanted.execute()).map(questionFrom);
    },

    /** Answers once; false when it is unknown, answered or closed. */
    answer: (id: string, { at, answer, author }: GivenAnswer): Promise<boolean> => {
      const given = { answered_at: at, answer_json: JSON.stringify(answer), author_json: JSON.stringify(author) };
      return changedOne(openOnes().set(given).where('id', '=', id));
    },

    /** No answer is needed any more: it was taken back, or its issue is finished. False when it is not open. */
    close: (id: string, at: number): Promise<boolean> =>
      changedOne(openOnes().set({ closed_at: at }).where('id', '=', id)),

    /** Closes the open questions of an issue; gives how many. */
    closeOfIssue: (key: IssueKey, at: number): Promise<number> =>
      changedRows(openOnes().set({ closed_at: at }).where(ofIssue(key))),

    /** Answers of an issue that no run has received, the oldest first. */
    undelivered: async (key: IssueKey): Promise<readonly StoredQuestion[]> => {
      const rows = await db
        .selectFrom('questions')
        .selectAll()
        .where(ofIssue(key))
        .where('answered_at', 'is not', null)
        .where('delivered_to', 'is', null)
        .orderBy('asked_at')
        .orderBy('id')
        .execute();
      return rows.map(questionFrom);
    },

    /** A run received these answers. */
    deliver: async (ids: readonly string[], runId: string): Promise<void> => {
      for (const some of inParts(ids)) {
        await db
          .updateTable('questions')
          .set({ delivered_to: runId })
          .where('id', 'in', some)
          .where('answered_at', 'is not', null)
          .where('delivered_to', 'is', null)
          .execute();
      }
    },

    /**
     * Removes at most `limit` that were asked before this and are closed, or were answered before it too; gives how many.
     * An open one is never removed, however old, and a new answer to an old question stays until it could be delivered.
     */
    prune: (askedBefore: number, limit: number): Promise<number> =>
      changedRows(
        db
          .deleteFrom('questions')
          .where('id', 'in', old(askedBefore).select('id').orderBy('asked_at').orderBy('id').limit(limit)),
      ),

    countOld: (askedBefore: number): Promise<number> => countIn(old(askedBefore)),
  };
}

/**
 * A damaged row, or one that a later Baton wrote, is still a question that can be listed and closed; and an answer that
 * cannot be read is never a yes.
 */
function questionFrom(row: Database['questions']): StoredQuestion {
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
  const requestHash = textIn(found.requestHash);
  return {
    kind: kinds.find((kind) => kind === found.kind) ?? 'input',
    text: textIn(found.text) ?? 'This question could not be read.',
    detail: textIn(found.detail) ?? '',
    fields: recordsIn(found.fields).map(fieldFrom),
    ...(requestHash === null ? {} : { requestHash }),
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
