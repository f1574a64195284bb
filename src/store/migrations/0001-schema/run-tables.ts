import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import { makeIndex, tableWith } from '../make-table.ts';
import { issue, tokens } from './shared-columns.ts';

export async function makeRuns(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await tableWith(db, types, 'runs', {
    run_id: 'text',
    ...issue,
    identifier: 'text',
    generation: 'integer',
    role: 'text',
    attempt: 'integer?',
    retry_kind: 'text?',
    backend: 'text',
    host: 'text',
    started_at: 'integer',
    pid: 'integer?',
    pid_start_time: 'integer?',
    workspace: 'text?',
    thread_id: 'text?',
    turns: 'integer',
    ...tokens,
    ended_at: 'integer?',
    outcome: 'text?',
    error_code: 'text?',
    error_message: 'text?',
    evidence_json: 'text?',
    removal_json: 'text?',
    account: 'text?',
    last_message: 'text?',
    recovery: 'text?',
    // The order in which the runs of a project started: a clock can be set back.
    seq: 'integer',
    note: 'text?',
    // The identifier in lower case, so that an issue is found by its name however many runs came after.
    name_key: 'text',
  })
    .addPrimaryKeyConstraint('runs_pkey', ['run_id'])
    .execute();
  await makeIndex(db, 'runs_newest', 'runs', ['project', 'seq', 'run_id']);
  await makeIndex(db, 'runs_of_issue', 'runs', ['project', 'issue_id', 'seq', 'run_id']);
  await makeIndex(db, 'runs_of_name', 'runs', ['project', 'name_key', 'seq', 'run_id']);
  await makeIndex(db, 'runs_in_workspace', 'runs', ['project', 'workspace', 'seq', 'run_id']);
  await makeIndex(db, 'runs_ended', 'runs', ['ended_at']);
  await db.schema
    .createIndex('runs_unfinished')
    .on('runs')
    // With the whole order in it: without, SQLite goes through all runs of the project to find the few in progress.
    .columns(['project', 'seq', 'run_id'])
    .where(sql.ref('ended_at'), 'is', null)
    .execute();

  await tableWith(db, types, 'run_events', {
    run_id: 'text',
    seq: 'integer',
    at: 'integer',
    name: 'text',
    summary: 'text',
  })
    .addPrimaryKeyConstraint('run_events_pkey', ['run_id', 'seq'])
    .addForeignKeyConstraint('run_events_run', ['run_id'], 'runs', ['run_id'], (constraint) =>
      constraint.onDelete('cascade'),
    )
    .execute();
}

export async function makeCounts(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await tableWith(db, types, 'request_counts', {
    bucket: 'text',
    begins_at: 'integer',
    provider: 'text',
    route: 'text',
    method: 'text',
    status_class: 'text',
    job: 'text',
    cause: 'text',
    count: 'integer',
    bytes: 'integer',
    latency_ms: 'integer',
  })
    .addPrimaryKeyConstraint('request_counts_pkey', [
      'bucket',
      'begins_at',
      'provider',
      'route',
      'method',
      'status_class',
      'job',
      'cause',
    ])
    .execute();

  await tableWith(db, types, 'usage', {
    ...issue,
    day: 'text',
    role: 'text',
    ...tokens,
    runs: 'integer',
  })
    .addPrimaryKeyConstraint('usage_pkey', ['project', 'day', 'issue_id', 'role'])
    .execute();
  await makeIndex(db, 'usage_of_issue', 'usage', ['project', 'issue_id']);
}
