import path from 'node:path';
import { CompiledQuery, createQueryId, type Kysely, type KyselyPlugin } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { Engine } from '../../src/store/engine.ts';
import { migrate } from '../../src/store/migrations/migrate.ts';
import type { Database } from '../../src/store/schema.ts';
import { openSqlite } from '../../src/store/sqlite/open-sqlite.ts';
import { type StoreTables, storeOver } from '../../src/store/store.ts';
import { scratchFolder } from './engines.ts';

let scratch: ReturnType<typeof scratchFolder>;
let engine: Engine;
beforeEach(async () => {
  scratch = scratchFolder();
  engine = await openSqlite(path.join(scratch.folder, 'baton.db'), 'visitor', systemClock);
  await migrate(engine, 'here', systemClock);
});
afterEach(async () => {
  await engine.close();
  scratch.remove();
});

const key = { project: 'p', issueId: 'i' };

// What a tick or a start asks. An index of held claims, or of runs in progress, does not grow with what is long over.
it.each<[string, string, (tables: StoreTables) => Promise<unknown>]>([
  ['held claims', 'claims_held', ({ claims }) => claims.held('p', 1)],
  ['claims to renew', 'claims_held', ({ claims }) => claims.renewAll('p', 'me', { at: 1, leaseMs: 1 })],
  ['phases that changed', 'phases_changed', ({ phases }) => phases.changes('p', 1)],
  ['retries', 'retries_due', ({ retries }) => retries.list('p')],
  ['held issues', 'sqlite_autoindex_held_1', ({ held }) => held.list('p')],
  ['runs in progress', 'runs_unfinished', ({ runs }) => runs.unfinished('p')],
  ['the runs of a role today', 'runs_of_role', ({ runs }) => runs.ofRoles('p', ['judge'], 1)],
  ['the latest run of an issue', 'runs_of_issue', ({ runs }) => runs.latestOfIssue(key)],
  ['the latest run of an issue by its name', 'runs_of_name', ({ runs }) => runs.latestNamed('p', 'T-1')],
  ['the latest runs in workspaces', 'runs_in_workspace', ({ runs }) => runs.latestInWorkspaces('p', ['/a', '/b'])],
  ['the latest runs of issues', 'runs_of_issue', ({ runs }) => runs.latestOfIssues('p', ['a', 'b'])],
  // @conforms api.10
  [
    'a column of the board in a list',
    'board_issues_page',
    ({ boardIssues }) => boardIssues.list('p', { statuses: ['todo'], match: {}, limit: 100, scan: 9, after: '5:i' }),
  ],
  [
    'a column of the board in the order of starts',
    'board_issues_dispatch',
    ({ boardIssues }) =>
      boardIssues.list('p', { statuses: ['todo'], match: {}, limit: 9, scan: 9, order: 'start', after: '2:5:BAT-1' }),
  ],
  ['the runs before one', 'runs_newest', ({ runs }) => runs.list('p', { limit: 9, before: { seq: 5, runId: 'r' } })],
  [
    'the runs of an issue before one',
    'runs_of_issue',
    ({ runs }) => runs.list('p', { issueId: 'i', limit: 9, before: { seq: 5, runId: 'r' } }),
  ],
  ['when runs of issues started last', 'runs_of_issue', ({ runs }) => runs.latestStarts('p', ['i', 'j'])],
  ['what was last published of issues', 'runs_of_issue', ({ runs }) => runs.latestPublications('p', ['i', 'j'])],
  [
    'the issues that finished lately',
    'finished_latest',
    ({ finishedIssues }) => finishedIssues.latest('p', { from: 1, limit: 9 }),
  ],
  ['open pull requests', 'pull_requests_open', ({ pullRequests }) => pullRequests.allOpen('p')],
  ['the open pull request of an issue', 'pull_requests_one_open', ({ pullRequests }) => pullRequests.openOfIssue(key)],
  [
    'the latest pull requests of issues',
    'pull_requests_of_issue',
    ({ pullRequests }) => pullRequests.latestOfIssues('p', ['i', 'j']),
  ],
  ['checks to run', 'checks_unfinished', ({ checks }) => checks.waiting('p')],
  ['open questions', 'questions_open', ({ questions }) => questions.open('p')],
  ['the newest questions', 'questions_newest', ({ questions }) => questions.list('p', { limit: 9 })],
  ['answers for an issue', 'questions_of_issue', ({ questions }) => questions.undelivered(key)],
  ['pinned issues', 'sqlite_autoindex_pins_1', ({ pins }) => pins.list('p')],
  ['the counters of a project', 'sqlite_autoindex_counters_1', ({ counters }) => counters.list('p')],
  ['the timers of a project', 'sqlite_autoindex_job_timers_1', ({ jobTimers }) => jobTimers.list('p')],
])('SQLite finds %s by the index %s', async (_, index, ask) => {
  const asked: CompiledQuery[] = [];
  await ask(storeOver({ ...engine, db: listening(engine.db, asked) }));
  const plans: string[] = [];
  for (const { sql, parameters } of asked) {
    const plan = await engine.db.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]),
    );
    plans.push(plan.rows[0]?.detail ?? '');
  }
  expect(plans.filter((plan) => !plan.includes(' USING INDEX '))).toEqual([]);
  expect(plans.at(-1)).toContain(`USING INDEX ${index} (project=?`);
});

// What was refused may be large, and there may be much of it: it is not even read.
// @conforms api.56
it('SQLite finds finished commands by an index alone, before it reads any row', async () => {
  const asked: CompiledQuery[] = [];
  const { commands } = storeOver({ ...engine, db: listening(engine.db, asked) });
  await commands.outlines('p', { doneKinds: ['issue_hold', 'issue_stop'], limit: 9 });
  // The question inside of it is written down as well.
  const whole = asked.toSorted((one, other) => other.sql.length - one.sql.length)[0];
  const plan = await engine.db.executeQuery<{ detail: string }>(
    CompiledQuery.raw(`explain query plan ${whole?.sql}`, [...(whole?.parameters ?? [])]),
  );
  const details = plan.rows.map(({ detail }) => detail);
  expect(details).toContainEqual(expect.stringContaining('USING COVERING INDEX commands_done (project=? AND kind=?'));
  expect(details).toContainEqual(expect.stringContaining('commands USING INTEGER PRIMARY KEY (rowid=?)'));
  expect(details.filter((detail) => detail.startsWith('SCAN commands'))).toEqual([]);
});

/** The same database, whose questions are written down as they are asked. */
function listening(db: Kysely<Database>, asked: CompiledQuery[]): Kysely<Database> {
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      asked.push(db.getExecutor().compileQuery(node, createQueryId()));
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return db.withPlugin(plugin);
}
