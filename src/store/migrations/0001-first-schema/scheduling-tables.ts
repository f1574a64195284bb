import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import { countedTableWith, makeIndex, tableWith } from '../make-table.ts';
import { issue } from './shared-columns.ts';

export async function makeProjects(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await tableWith(db, types, 'projects', { id: 'text', name: 'text', created_at: 'integer' })
    .addPrimaryKeyConstraint('projects_pkey', ['id'])
    .addUniqueConstraint('projects_name', ['name'])
    .execute();
}

export async function makeScheduling(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await tableWith(db, types, 'claims', {
    ...issue,
    owner: 'text?',
    generation: 'integer',
    claimed_at: 'integer',
    lease_until: 'integer',
  })
    .addPrimaryKeyConstraint('claims_pkey', ['project', 'issue_id'])
    .execute();
  await db.schema
    .createIndex('claims_held')
    .on('claims')
    .columns(['project', 'claimed_at'])
    .where(sql.ref('owner'), 'is not', null)
    .execute();

  await tableWith(db, types, 'retries', {
    ...issue,
    identifier: 'text',
    kind: 'text',
    attempt: 'integer',
    failures: 'integer',
    due_at: 'integer',
    error: 'text?',
    slot_waits: 'integer',
  })
    .addPrimaryKeyConstraint('retries_pkey', ['project', 'issue_id'])
    .execute();

  await tableWith(db, types, 'held', {
    ...issue,
    identifier: 'text',
    code: 'text',
    reason: 'text',
    since: 'integer',
    run_id: 'text?',
  })
    .addPrimaryKeyConstraint('held_pkey', ['project', 'issue_id'])
    .execute();

  await tableWith(db, types, 'counters', { ...issue, name: 'text', value: 'integer' })
    .addPrimaryKeyConstraint('counters_pkey', ['project', 'issue_id', 'name'])
    .execute();

  await tableWith(db, types, 'job_timers', {
    project: 'text',
    job: 'text',
    last_run_at: 'integer?',
    next_due_at: 'integer',
  })
    .addPrimaryKeyConstraint('job_timers_pkey', ['project', 'job'])
    .execute();
}

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
