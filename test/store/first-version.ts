import { CompiledQuery } from 'kysely';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { Engine } from '../../src/store/engine.ts';
import { migrate } from '../../src/store/migrations/migrate.ts';
import { migrations } from '../../src/store/migrations/migrations.ts';
import { openSqlite } from '../../src/store/sqlite/open-sqlite.ts';

/** What a store of the first version may hold, in its own columns: a held claim, a released one, an issue, runs, a
 * command. */
const rows = [
  "insert into projects (id, name, created_at) values ('p', 'p', 1)",
  "insert into claims values ('p', 'held', 'me', 7, 10, 20)",
  "insert into claims values ('p', 'free', null, 3, 10, 20)",
  `insert into board_issues (project, id, identifier, title, status, dispatch_rank, labels_json, created_at, updated_at)
   values ('p', 'held', 'BAT-1', 'Title', 'todo', 5, '["a"]', 1, 2)`,
  "insert into board_counters values ('p', 1)",
  ...['ended', 'live'].map(
    (
      id,
    ) => `insert into runs (run_id, project, issue_id, identifier, generation, role, backend, host, started_at, turns,
      input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, total_tokens, cost_micro_usd, ended_at, outcome)
      values ('${id}', 'p', 'held', 'BAT-1', 7, 'worker', 'rehearsal', 'here', 11, 2, 1, 2, 3, 4, 5, 6,
        ${id === 'ended' ? "12, 'failed'" : 'null, null'})`,
  ),
  "insert into run_events values ('live', 1, 11, 'n', 's')",
  "insert into held values ('p', 'other', 'BAT-2', 'person', 'asked to', 5, null)",
  "insert into counters values ('p', 'held', 'n', 9)",
  "insert into job_timers values ('p', 'prune_store', 5, 9)",
  `insert into commands (id, project, kind, payload_json, author_json, at, result_at, result_status, result_text)
   values ('c', 'p', 'pause', '{}', '{"kind":"person","name":"Ada"}', 5, 6, 'done', 'nothing new starts')`,
];

/** Makes a store as the first version left it. */
export async function fillFirstVersion(engine: Engine): Promise<void> {
  await migrate(engine, 'here', systemClock, migrations.slice(0, 1));
  for (const row of rows) await engine.db.executeQuery(CompiledQuery.raw(row));
}

/** The same as an SQLite file. */
export async function makeFirstVersion(file: string): Promise<void> {
  const engine = await openSqlite(file, 'visitor', systemClock);
  await fillFirstVersion(engine);
  await engine.close();
}
