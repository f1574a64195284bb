import { sql } from 'kysely';
import { makeIndex, tableWith } from '../make-table.ts';
import type { Migration } from '../migrations.ts';

/** What agents asked people, what is known of their accounts, and what the next run of an issue has to know. */
export const questionsAndAccounts: Migration = {
  name: '0005-questions-and-accounts',
  up: async (db, types) => {
    for (const [table, column] of addedColumns) {
      await db.schema.alterTable(table).addColumn(column, types.text).execute();
    }
    // No key to `runs`: a question may be open for longer than its run is kept.
    await tableWith(db, types, 'questions', {
      id: 'text',
      project: 'text',
      issue_id: 'text',
      identifier: 'text',
      run_id: 'text',
      asked_at: 'integer',
      question_json: 'text',
      answered_at: 'integer?',
      answer_json: 'text?',
      author_json: 'text?',
      closed_at: 'integer?',
      delivered_to: 'text?',
    })
      .addPrimaryKeyConstraint('questions_pkey', ['id'])
      .execute();
    await makeIndex(db, 'questions_newest', 'questions', ['project', 'asked_at', 'id']);
    await makeIndex(db, 'questions_of_issue', 'questions', ['project', 'issue_id', 'asked_at', 'id']);
    await makeIndex(db, 'questions_asked', 'questions', ['asked_at', 'id']);
    await db.schema
      .createIndex('questions_open')
      .on('questions')
      .columns(['project', 'asked_at', 'id'])
      .where(sql<boolean>`answered_at is null and closed_at is null`)
      .execute();
    await tableWith(db, types, 'accounts', {
      backend: 'text',
      name: 'text',
      windows_json: 'text',
      parked_json: 'text?',
      parks: 'integer',
      updated_at: 'integer',
    })
      .addPrimaryKeyConstraint('accounts_pkey', ['backend', 'name'])
      .execute();
  },
};

const addedColumns = [
  ['runs', 'account'],
  ['runs', 'last_message'],
  ['runs', 'recovery'],
  ['retries', 'recovery'],
  ['retries', 'note'],
] as const;
