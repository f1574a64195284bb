import type { Kysely } from 'kysely';
import type { Engine, MaintenanceResult } from './engine.ts';
import type { Recovery } from './recovery.ts';
import type { Database } from './schema.ts';
import { accountsTable } from './tables/accounts.ts';
import { boardChangesTable } from './tables/board-changes.ts';
import { boardCommentsTable } from './tables/board-comments.ts';
import { boardHistoryTable } from './tables/board-history.ts';
import { boardIssuesTable } from './tables/board-issues.ts';
import { claimsTable } from './tables/claims.ts';
import { commandsTable } from './tables/commands.ts';
import { countersTable } from './tables/counters.ts';
import { finishedTable } from './tables/finished-issues.ts';
import { heldTable } from './tables/held.ts';
import { jobTimersTable } from './tables/job-timers.ts';
import { learningsTable } from './tables/learnings/learnings.ts';
import { notificationsTable } from './tables/notifications.ts';
import { pinsTable } from './tables/pins.ts';
import { artifactsTable } from './tables/pipeline/artifacts.ts';
import { completionClaimsTable } from './tables/pipeline/completion-claims.ts';
import { phasesTable } from './tables/pipeline/phases.ts';
import { plansTable } from './tables/planner/plans.ts';
import { projectsTable } from './tables/projects.ts';
import { promptRunsTable } from './tables/prompts/prompt-runs.ts';
import { checksTable } from './tables/pulls/checks.ts';
import { pullRequestsTable } from './tables/pulls/pull-requests.ts';
import { verdictsTable } from './tables/pulls/verdicts.ts';
import { requestCountsTable } from './tables/request-counts.ts';
import { retriesTable } from './tables/retries.ts';
import { runEventsTable } from './tables/run-events.ts';
import { runTextsTable } from './tables/run-texts.ts';
import { runsTable } from './tables/runs.ts';
import { tasksTable } from './tables/tasks/tasks.ts';
import { usageTable } from './tables/usage.ts';
import { messagesTable } from './tables/words/messages.ts';
import { questionsTable } from './tables/words/questions.ts';

/**
 * The durable memory: one schema on two engines, embedded SQLite for one machine and PostgreSQL for many. What must hold:
 *
 * - What a call acknowledged is there after a crash of the process at any later instant.
 * - Facts are stored, statuses derived: a run has a start and perhaps an end, not a status.
 * - Identity is (project, issue id) everywhere; two projects may both have `GH-42`.
 * - Times are UTC milliseconds and come from the caller; JSON is text. No SQL exists outside this module.
 * - An engine's error leaves as a BatonError of a `store_*` code, its cause kept.
 */
export interface Store extends StoreTables, AsyncDisposable {
  readonly engine: 'sqlite' | 'postgres';
  /**
   * All or nothing: when `work` rejects, nothing of it is stored, and neither is it when a call inside failed and the
   * error was caught. Not nested. Inside, only the given tables may be used: on SQLite the store's own would wait for
   * this transaction to end. `work` should await nothing else, because other writes wait for it.
   */
  transaction<T>(work: (tables: StoreTables) => Promise<T>): Promise<T>;
  /** The stored scheduling state at one moment; `at` is for the leases. Cheap enough for every tick. */
  recovery(project: string, at: number): Promise<Recovery>;
  /**
   * Maintains the engine, to be called every few minutes: moves the latest writes from SQLite's log into its file, so that
   * the log does not grow forever. It never waits and makes no other write wait; the next call does the rest. PostgreSQL
   * does all of this by itself.
   */
  maintain(): Promise<MaintenanceResult>;
  close(): Promise<void>;
}

export type StoreTables = ReturnType<typeof storeTables>;

/** The store over a database that is open and migrated. */
export function storeOver(engine: Engine): Store {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= engine.close();
    return closing;
  };
  return {
    engine: engine.name,
    ...storeTables(engine.db, engine),
    transaction: (work) => engine.db.transaction().execute((inside) => work(storeTables(inside, engine))),
    recovery: (project, at) => readRecovery(engine, project, at),
    maintain: () => engine.maintain(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Every table over one connection to the database: the store's own, or that of a transaction. */
function storeTables(db: Kysely<Database>, engine: Engine) {
  return {
    projects: projectsTable(db, engine),
    boardIssues: boardIssuesTable(db, engine),
    boardComments: boardCommentsTable(db),
    boardHistory: boardHistoryTable(db),
    boardChanges: boardChangesTable(db, engine),
    claims: claimsTable(db, engine),
    runs: runsTable(db),
    runEvents: runEventsTable(db, engine.name),
    questions: questionsTable(db),
    messages: messagesTable(db),
    accounts: accountsTable(db),
    retries: retriesTable(db),
    held: heldTable(db),
    pins: pinsTable(db),
    promptRuns: promptRunsTable(db),
    runTexts: runTextsTable(db),
    counters: countersTable(db),
    jobTimers: jobTimersTable(db),
    requestCounts: requestCountsTable(db),
    usage: usageTable(db),
    commands: commandsTable(db, engine),
    notifications: notificationsTable(db),
    finishedIssues: finishedTable(db),
    pullRequests: pullRequestsTable(db, engine),
    checks: checksTable(db),
    verdicts: verdictsTable(db),
    phases: phasesTable(db, engine.name),
    artifacts: artifactsTable(db),
    tasks: tasksTable(db, engine),
    learnings: learningsTable(db, engine),
    completionClaims: completionClaimsTable(db),
    plans: plansTable(db),
  };
}

/** Four selects, each by an index, which read neither old runs nor released claims. */
function readRecovery(engine: Engine, project: string, at: number): Promise<Recovery> {
  const reading = engine.db.transaction();
  // All four selects see the same moment; SQLite always guarantees that.
  const steady =
    engine.name === 'postgres' ? reading.setIsolationLevel('repeatable read').setAccessMode('read only') : reading;
  return steady.execute(async (inside) => {
    const { claims, retries, held, runs } = storeTables(inside, engine);
    return {
      claims: await claims.held(project, at),
      retries: await retries.list(project),
      held: await held.list(project),
      unfinishedRuns: await runs.unfinished(project),
    };
  });
}
