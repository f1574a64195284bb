import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import { questionFrom } from './question-rows.ts';
import type { Questions } from './questions.ts';

/** Names in one statement; each is a parameter. */
const namesAStatement = 500;

export function questionsTable(db: Kysely<Database>): Questions {
  const isOpen = () => db.updateTable('questions').where('answered_at', 'is', null).where('closed_at', 'is', null);
  return {
    ask: async (draft) => {
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

    read: async (id) => {
      const row = await db.selectFrom('questions').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : questionFrom(row);
    },

    open: async (project) => {
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

    list: async (project, query) => {
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

    answer: async (id, given) => {
      const done = await isOpen()
        .set({
          answered_at: given.at,
          answer_json: JSON.stringify(given.answer),
          author_json: JSON.stringify(given.author),
        })
        .where('id', '=', id)
        .executeTakeFirst();
      return done.numUpdatedRows === 1n;
    },

    close: async (id, at) => {
      const done = await isOpen().set({ closed_at: at }).where('id', '=', id).executeTakeFirst();
      return done.numUpdatedRows === 1n;
    },

    closeOfIssue: async (key, at) => {
      const done = await isOpen()
        .set({ closed_at: at })
        .where('project', '=', key.project)
        .where('issue_id', '=', key.issueId)
        .executeTakeFirst();
      return Number(done.numUpdatedRows);
    },

    undelivered: async (key) => {
      const rows = await db
        .selectFrom('questions')
        .selectAll()
        .where('project', '=', key.project)
        .where('issue_id', '=', key.issueId)
        .where('answered_at', 'is not', null)
        .where('delivered_to', 'is', null)
        .orderBy('asked_at')
        .orderBy('id')
        .execute();
      return rows.map(questionFrom);
    },

    deliver: async (ids, runId) => {
      for (let from = 0; from < ids.length; from += namesAStatement) {
        await db
          .updateTable('questions')
          .set({ delivered_to: runId })
          .where('id', 'in', ids.slice(from, from + namesAStatement))
          .where('answered_at', 'is not', null)
          .where('delivered_to', 'is', null)
          .execute();
      }
    },

    prune: async (askedBefore, limit) => {
      const done = await db
        .deleteFrom('questions')
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('questions')
            .select('id')
            .where('asked_at', '<', askedBefore)
            .where((either) =>
              either.or([either('closed_at', 'is not', null), either('answered_at', '<', askedBefore)]),
            )
            .orderBy('asked_at')
            .orderBy('id')
            .limit(limit),
        )
        .executeTakeFirst();
      return Number(done.numDeletedRows);
    },
  };
}
