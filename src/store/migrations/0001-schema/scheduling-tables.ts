import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import { makeIndex, tableWith } from '../make-table.ts';
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
    slot_state: 'text?',
    host: 'text?',
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
    url: 'text?',
    kind: 'text?',
    attempt: 'integer?',
    failures: 'integer',
    stale_runs: 'integer',
    due_at: 'integer',
    error: 'text?',
    recovery: 'text?',
    note: 'text?',
  })
    .addPrimaryKeyConstraint('retries_pkey', ['project', 'issue_id'])
    .execute();
  await makeIndex(db, 'retries_due', 'retries', ['project', 'due_at', 'issue_id']);

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
    owner: 'text',
    last_run_at: 'integer?',
    next_due_at: 'integer',
    outcome: 'text?',
    duration_ms: 'integer?',
    failures: 'integer',
    error: 'text?',
  })
    .addPrimaryKeyConstraint('job_timers_pkey', ['project', 'job', 'owner'])
    .execute();

  await tableWith(db, types, 'pins', { ...issue, identifier: 'text', since: 'integer', author_json: 'text' })
    .addPrimaryKeyConstraint('pins_pkey', ['project', 'issue_id'])
    .execute();

  await tableWith(db, types, 'landed', {
    ...issue,
    identifier: 'text',
    title: 'text?',
    url: 'text?',
    state: 'text',
    at: 'integer',
  })
    .addPrimaryKeyConstraint('landed_pkey', ['project', 'issue_id'])
    .execute();
  await makeIndex(db, 'landed_latest', 'landed', ['project', 'at', 'issue_id']);
  await makeIndex(db, 'landed_oldest', 'landed', ['at']);

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
}
