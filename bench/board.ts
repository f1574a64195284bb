import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

/** A board of this size: some issues are active, half of them to do, half in progress; the rest is done. */
export async function fillBoard(url: string, project: string, issues: number, active = 1_000): Promise<void> {
  const rows = Array.from({ length: issues }, (_, index) => issueRow(project, index, index < active));
  const blockers = Array.from({ length: 100 }, (_, index) => [project, `id-${index}`, `id-${index + 1}`]);
  if (url.startsWith('sqlite:')) fillSqlite(url.slice('sqlite:'.length), rows, blockers);
  else await fillPostgres(url, rows, blockers);
}

const columns =
  'project, id, identifier, title, description, status, priority, dispatch_rank, labels_json, created_at, updated_at';

/** Puts issues of an SQLite board into a phase, with its label as Baton last wrote it. */
export function fillPhases(file: string, project: string, phase: string, issues: number): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  const labels = JSON.stringify([`phase:${phase}`]);
  database.exec('begin');
  const label = database.prepare('update board_issues set labels_json = ? where project = ? and id = ?');
  const record = database.prepare(
    `insert into phases (project, issue_id, phase, since, revisions, skipped_json, mirrored_json, mirrored_at, changed_at)
    values (?, ?, ?, 1, 0, '[]', ?, 1, 1)`,
  );
  for (let index = 0; index < issues; index += 1) {
    label.run(labels, project, `id-${index}`);
    record.run(project, `id-${index}`, phase, labels);
  }
  database.exec('commit');
  database.close();
}

type Row = readonly (string | number | null)[];

function issueRow(project: string, index: number, isActive: boolean): Row {
  const status = !isActive ? 'done' : index % 2 === 0 ? 'todo' : 'in_progress';
  const priority = index % 5 === 0 ? null : index % 5;
  const text = `A task, described in a few sentences. ${'There is more. '.repeat(20)}`;
  const times = [1_000_000 + index, 2_000_000 + index];
  return [
    project,
    `id-${index}`,
    `BAT-${index}`,
    `Title ${index}`,
    text,
    status,
    priority,
    priority ?? 5,
    '["a","b"]',
    ...times,
  ];
}

function fillSqlite(file: string, rows: readonly Row[], blockers: readonly Row[]): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec('begin');
  const issue = database.prepare(`insert into board_issues (${columns}) values (?,?,?,?,?,?,?,?,?,?,?)`);
  for (const row of rows) issue.run(...row);
  const blocker = database.prepare('insert into board_blockers (project, issue_id, blocker_id) values (?,?,?)');
  for (const row of blockers) blocker.run(...row);
  database.exec('commit');
  database.close();
}

async function fillPostgres(url: string, rows: readonly Row[], blockers: readonly Row[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('begin');
  const insert = async (into: string, list: readonly Row[]): Promise<void> => {
    for (let start = 0; start < list.length; start += 1_000) {
      const batch = list.slice(start, start + 1_000);
      const marks = batch.map((row, at) => `(${row.map((_, column) => `$${at * row.length + column + 1}`).join(',')})`);
      await client.query(`insert into ${into} values ${marks.join(',')}`, batch.flat());
    }
  };
  await insert(`board_issues (${columns})`, rows);
  await insert('board_blockers (project, issue_id, blocker_id)', blockers);
  await client.query('commit');
  // The autovacuum of the server would do this by itself within a minute.
  await client.query('vacuum analyze');
  await client.end();
}
