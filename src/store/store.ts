import type { Recovery } from './recovery.ts';
import type { StoreUpkeep } from './store-upkeep.ts';
import type { Accounts } from './tables/accounts.ts';
import type { BoardComments } from './tables/board-comments.ts';
import type { BoardHistory } from './tables/board-history.ts';
import type { BoardIssues } from './tables/board-issues.ts';
import type { BoardNews } from './tables/board-news.ts';
import type { Claims } from './tables/claims.ts';
import type { Commands } from './tables/commands.ts';
import type { Counters } from './tables/counters.ts';
import type { Held } from './tables/held.ts';
import type { JobTimers } from './tables/job-timers.ts';
import type { Landed } from './tables/landed.ts';
import type { Notifications } from './tables/notifications.ts';
import type { Pins } from './tables/pins.ts';
import type { Projects } from './tables/projects.ts';
import type { Questions } from './tables/questions.ts';
import type { RequestCounts } from './tables/request-counts.ts';
import type { Retries } from './tables/retries.ts';
import type { RunEvents } from './tables/run-events.ts';
import type { Runs } from './tables/runs.ts';
import type { Usage } from './tables/usage.ts';

/**
 * The durable memory: one schema on two engines, embedded SQLite for one machine and PostgreSQL for many. What must hold:
 *
 * - What a call acknowledged is there after a crash of the process at any later instant.
 * - Facts are stored, statuses derived: a run has a start and perhaps an end, not a status.
 * - Identity is (project, issue id) everywhere; two projects may both have `GH-42`.
 * - Times are UTC milliseconds and come from the caller; JSON is text. No SQL exists outside this room.
 * - An engine's error leaves as a BatonError of a `store_*` code, its cause kept.
 */
export interface Store extends StoreTables, AsyncDisposable {
  readonly engine: 'sqlite' | 'postgres';
  /**
   * All or nothing: when `work` rejects, nothing of it is stored, and neither is it when a call inside failed and the
   * error was caught. Not nested. Inside, only the given tables may be used: on SQLite the store's own would wait for
   * this transaction to end. `work` should await nothing else; others wait meanwhile.
   */
  transaction<T>(work: (tables: StoreTables) => Promise<T>): Promise<T>;
  /** All that must have survived, in one moment; `at` is for the leases. Cheap enough to be asked at every tick. */
  recovery(project: string, at: number): Promise<Recovery>;
  /**
   * The upkeep of the engine, for every few minutes: what was written last is brought from SQLite's log into its file, so
   * that the log does not grow for ever. It waits for nobody and nobody waits for it; what could not be done now is done
   * the next time. PostgreSQL does all of this by itself.
   */
  maintain(): Promise<StoreUpkeep>;
  close(): Promise<void>;
}

/** One module a table (or a small family of tables). */
export interface StoreTables {
  readonly projects: Projects;
  readonly boardIssues: BoardIssues;
  readonly boardComments: BoardComments;
  readonly boardHistory: BoardHistory;
  readonly boardNews: BoardNews;
  readonly claims: Claims;
  readonly runs: Runs;
  readonly runEvents: RunEvents;
  readonly questions: Questions;
  readonly accounts: Accounts;
  readonly retries: Retries;
  readonly held: Held;
  readonly pins: Pins;
  readonly counters: Counters;
  readonly jobTimers: JobTimers;
  readonly requestCounts: RequestCounts;
  readonly usage: Usage;
  readonly commands: Commands;
  readonly notifications: Notifications;
  readonly landed: Landed;
}
