import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import { countedTableWith, makeIndex, tableWith } from '../make-table.ts';
import { issue } from './shared-columns.ts';

export async function makeCommands(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await countedTableWith(db, types, 'commands', {
    id: 'text',
    project: 'text',
    kind: 'text',
    payload_json: 'text',
    author_json: 'text',
    at: 'integer',
    key: 'text?',
    result_at: 'integer?',
    result_status: 'text?',
    result_text: 'text?',
    result_code: 'text?',
    result_data_json: 'text?',
  })
    .addUniqueConstraint('commands_id', ['id'])
    .addUniqueConstraint('commands_key', ['project', 'key'])
    .execute();
  await makeIndex(db, 'commands_newest', 'commands', ['project', 'seq']);
  await makeIndex(db, 'commands_executed', 'commands', ['result_at']);
  await db.schema
    .createIndex('commands_done')
    .on('commands')
    .columns(['project', 'kind', 'seq'])
    .where(sql.ref('result_status'), '=', 'done')
    .execute();
  await db.schema
    .createIndex('commands_waiting')
    .on('commands')
    .columns(['project', 'seq'])
    .where(sql.ref('result_at'), 'is', null)
    .execute();
}

export async function makeQuestions(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  // No key to `runs`: a question may be open for longer than its run is kept.
  await tableWith(db, types, 'questions', {
    id: 'text',
    ...issue,
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
}

export async function makeNotifications(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await tableWith(db, types, 'notifications', {
    project: 'text',
    cause: 'text',
    target: 'text',
    nature: 'text',
    cause_json: 'text',
    first_seen_at: 'integer',
    seen_at: 'integer',
    over_at: 'integer?',
    message: 'text?',
    tries: 'integer',
    first_try_at: 'integer?',
    next_try_at: 'integer?',
    sent_at: 'integer?',
    error: 'text?',
  })
    .addPrimaryKeyConstraint('notifications_pkey', ['project', 'cause', 'target'])
    .execute();
  await makeIndex(db, 'notifications_seen', 'notifications', ['seen_at']);
}
