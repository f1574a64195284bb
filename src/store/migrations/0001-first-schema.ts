import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import type { ColumnTypes } from './column-types.ts';
import type { Migration } from './migrations.ts';

/** The board, scheduling, runs, counts and commands. */
export const firstSchema: Migration = {
  name: '0001-first-schema',
  up: async (db, types) => {
    await makeProjects(db, types);
    await makeBoard(db, types);
    await makeScheduling(db, types);
    await makeRuns(db, types);
    await makeCounts(db, types);
    await makeCommands(db, types);
  },
};

type Columns = Readonly<Record<string, string>>;
type Table = CreateTableBuilder<string, string>;

/** `text`, `integer`, or either with `?` for one that may be null. */
function columns(table: CreateTableBuilder<string, never>, types: ColumnTypes, list: Columns): Table {
  let made = table as Table;
  for (const [name, kind] of Object.entries(list)) {
    const type = kind.startsWith('text') ? types.text : types.integer;
    made = made.addColumn(name, type, (column) => (kind.endsWith('?') ? column : column.notNull()));
  }
  return made.modifyEnd(types.tableEnd);
}

const issue = { project: 'text', issue_id: 'text' };

const tokens = {
  input_tokens: 'integer',
  cached_input_tokens: 'integer',
  output_tokens: 'integer',
  reasoning_tokens: 'integer',
  total_tokens: 'integer',
  cost_micro_usd: 'integer',
};

async function makeProjects(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await columns(db.schema.createTable('projects'), types, { id: 'text', name: 'text', created_at: 'integer' })
    .addPrimaryKeyConstraint('projects_pkey', ['id'])
    .addUniqueConstraint('projects_name', ['name'])
    .execute();
}

async function makeBoard(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await columns(db.schema.createTable('board_counters'), types, { project: 'text', last_number: 'integer' })
    .addPrimaryKeyConstraint('board_counters_pkey', ['project'])
    .execute();
  await columns(db.schema.createTable('board_issues'), types, {
    project: 'text',
    id: 'text',
    identifier: 'text',
    title: 'text',
    description: 'text?',
    status: 'text',
    priority: 'integer?',
    dispatch_rank: 'integer',
    labels_json: 'text',
    parent_id: 'text?',
    branch: 'text?',
    url: 'text?',
    client_key: 'text?',
    created_at: 'integer',
    updated_at: 'integer',
  })
    .addPrimaryKeyConstraint('board_issues_pkey', ['project', 'id'])
    .addUniqueConstraint('board_issues_identifier', ['project', 'identifier'])
    .addUniqueConstraint('board_issues_client_key', ['project', 'client_key'])
    // Deferred, so that issues that name each other may be brought in together in any order.
    .addForeignKeyConstraint(
      'board_issues_parent',
      ['project', 'parent_id'],
      'board_issues',
      ['project', 'id'],
      (constraint) => constraint.deferrable().initiallyDeferred(),
    )
    .execute();
  await index(db, 'board_issues_dispatch', 'board_issues', [
    'project',
    'status',
    'dispatch_rank',
    'created_at',
    'identifier',
  ]);
  await index(db, 'board_issues_page', 'board_issues', ['project', 'status', 'updated_at', 'id']);
  await db.schema
    .createIndex('board_issues_children')
    .on('board_issues')
    .columns(['project', 'parent_id', 'created_at'])
    .where(sql.ref('parent_id'), 'is not', null)
    .execute();

  await columns(db.schema.createTable('board_blockers'), types, { ...issue, blocker_id: 'text' })
    .addPrimaryKeyConstraint('board_blockers_pkey', ['project', 'issue_id', 'blocker_id'])
    .addForeignKeyConstraint('board_blockers_issue', ['project', 'issue_id'], 'board_issues', ['project', 'id'])
    .addForeignKeyConstraint('board_blockers_blocker', ['project', 'blocker_id'], 'board_issues', ['project', 'id'])
    .execute();
  await index(db, 'board_blockers_blocked', 'board_blockers', ['project', 'blocker_id']);

  await columns(types.withSeq(db.schema.createTable('board_comments')) as never, types, {
    ...issue,
    author_json: 'text',
    body: 'text',
    at: 'integer',
  })
    .addForeignKeyConstraint('board_comments_issue', ['project', 'issue_id'], 'board_issues', ['project', 'id'])
    .execute();
  await index(db, 'board_comments_of_issue', 'board_comments', ['project', 'issue_id', 'seq']);

  await columns(types.withSeq(db.schema.createTable('board_history')) as never, types, {
    ...issue,
    at: 'integer',
    author_json: 'text',
    field: 'text',
    from_json: 'text?',
    to_json: 'text?',
    reason: 'text?',
  })
    .addForeignKeyConstraint('board_history_issue', ['project', 'issue_id'], 'board_issues', ['project', 'id'])
    .execute();
  await index(db, 'board_history_of_issue', 'board_history', ['project', 'issue_id', 'seq']);
}

async function makeScheduling(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await columns(db.schema.createTable('claims'), types, {
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

  await columns(db.schema.createTable('retries'), types, {
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

  await columns(db.schema.createTable('held'), types, {
    ...issue,
    identifier: 'text',
    code: 'text',
    reason: 'text',
    since: 'integer',
    run_id: 'text?',
  })
    .addPrimaryKeyConstraint('held_pkey', ['project', 'issue_id'])
    .execute();

  await columns(db.schema.createTable('counters'), types, { ...issue, name: 'text', value: 'integer' })
    .addPrimaryKeyConstraint('counters_pkey', ['project', 'issue_id', 'name'])
    .execute();

  await columns(db.schema.createTable('job_timers'), types, {
    project: 'text',
    job: 'text',
    last_run_at: 'integer?',
    next_due_at: 'integer',
  })
    .addPrimaryKeyConstraint('job_timers_pkey', ['project', 'job'])
    .execute();
}

async function makeRuns(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await columns(db.schema.createTable('runs'), types, {
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
  })
    .addPrimaryKeyConstraint('runs_pkey', ['run_id'])
    .execute();
  await index(db, 'runs_newest', 'runs', ['project', 'started_at', 'run_id']);
  await index(db, 'runs_of_issue', 'runs', ['project', 'issue_id', 'started_at', 'run_id']);
  await index(db, 'runs_ended', 'runs', ['ended_at']);
  await db.schema
    .createIndex('runs_unfinished')
    .on('runs')
    .columns(['project', 'started_at'])
    .where(sql.ref('ended_at'), 'is', null)
    .execute();

  await columns(db.schema.createTable('run_events'), types, {
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

async function makeCounts(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await columns(db.schema.createTable('request_counts'), types, {
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

  await columns(db.schema.createTable('usage'), types, {
    ...issue,
    day: 'text',
    role: 'text',
    ...tokens,
    runs: 'integer',
  })
    .addPrimaryKeyConstraint('usage_pkey', ['project', 'day', 'issue_id', 'role'])
    .execute();
  await index(db, 'usage_of_issue', 'usage', ['project', 'issue_id']);
}

async function makeCommands(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await columns(types.withSeq(db.schema.createTable('commands')) as never, types, {
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
  await index(db, 'commands_newest', 'commands', ['project', 'seq']);
  await index(db, 'commands_executed', 'commands', ['result_at']);
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

async function index(db: Kysely<unknown>, name: string, table: string, on: readonly string[]): Promise<void> {
  await db.schema
    .createIndex(name)
    .on(table)
    .columns([...on])
    .execute();
}
