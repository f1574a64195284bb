import type { Kysely } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Database } from '../schema.ts';
import type { StoreTables } from '../store.ts';
import { accountsTable } from './accounts-table.ts';
import { boardCommentsTable } from './board-comments-table.ts';
import { boardHistoryTable } from './board-history-table.ts';
import { boardIssuesTable } from './board-issues-table.ts';
import { boardNewsTable } from './board-news-table.ts';
import { claimsTable } from './claims-table.ts';
import { commandsTable } from './commands-table.ts';
import { countersTable } from './counters-table.ts';
import { heldTable } from './held-table.ts';
import { jobTimersTable } from './job-timers-table.ts';
import { landedTable } from './landed-table.ts';
import { notificationsTable } from './notifications-table.ts';
import { pinsTable } from './pins-table.ts';
import { projectsTable } from './projects-table.ts';
import { questionsTable } from './questions-table.ts';
import { requestCountsTable } from './request-counts-table.ts';
import { retriesTable } from './retries-table.ts';
import { runEventsTable } from './run-events-table.ts';
import { runsTable } from './runs-table.ts';
import { usageTable } from './usage-table.ts';

/** Every table over one connection to the database: the store's own, or that of a transaction. */
export function storeTables(db: Kysely<Database>, engine: Engine): StoreTables {
  return {
    projects: projectsTable(db, engine.name),
    boardIssues: boardIssuesTable(db, engine.name),
    boardComments: boardCommentsTable(db),
    boardHistory: boardHistoryTable(db),
    boardNews: boardNewsTable(db),
    claims: claimsTable(db, engine),
    runs: runsTable(db),
    runEvents: runEventsTable(db, engine.name),
    questions: questionsTable(db),
    accounts: accountsTable(db),
    retries: retriesTable(db),
    held: heldTable(db),
    pins: pinsTable(db),
    counters: countersTable(db),
    jobTimers: jobTimersTable(db),
    requestCounts: requestCountsTable(db),
    usage: usageTable(db),
    commands: commandsTable(db, engine),
    notifications: notificationsTable(db),
    landed: landedTable(db),
  };
}
