import type { KillPlan } from './kill-plan.ts';

const sql = (pattern: string, when: KillPlan['when'], since?: string): KillPlan => ({
  at: 'sql',
  pattern,
  when,
  ...(since === undefined ? {} : { since }),
});
const inTurn = sql('insert into "run_events".*at work', 'after_commit');

/**
 * The points at which a daemon is killed, in the order of a run. A new one is a line here: what to watch, what to
 * match, and on which side of it to kill. Several plans are daemons killed one after the other: up to the end of a turn
 * every daemon finds an issue to work on, so that points share their issues; their agents work until the last daemon.
 */
export const killPointsAtWork: Readonly<Record<string, readonly KillPlan[]>> = {
  // @conforms fault.1, 4.124
  'before a claim, twice in the middle of it, and right after it': [
    sql('insert into "claims"', 'before'),
    sql('insert into "claims"', 'after'),
    sql('insert into "runs"', 'after'),
    sql('insert into "runs"', 'after_commit'),
  ],
  'after the claim of the second issue, and after the board recorded the start of work': [
    { ...sql('insert into "runs"', 'after_commit'), occurrence: 2 },
    sql('update "board_issues".*in_progress', 'after_commit'),
  ],
  // @conforms fault.2
  'while a workspace is created, in its hook, before the spawn, and after it': [
    { at: 'file', pattern: '^writeFile .*\\+making\\+', when: 'after' },
    { at: 'spawn', pattern: 'after-create', when: 'after' },
    { at: 'spawn', pattern: 'rehearsal/program', when: 'before' },
    { at: 'spawn', pattern: 'rehearsal/program', when: 'after' },
  ],
  // @conforms fault.3, 4.123
  'before the first event, in a turn, while the next daemon cleans up, and while the one after records that': [
    sql('insert into "run_events"', 'before'),
    inTurn,
    { at: 'log', pattern: '"inherited_run_ended"', when: 'after' },
    sql('update "runs" set "ended_at"', 'after'),
  ],
  'in a turn, right after the next daemon inherited its issue, and right after the one after recorded that': [
    inTurn,
    sql('insert into "claims"', 'after_commit'),
    sql('insert into "retries"', 'after_commit'),
  ],
};

/** After the end of a turn, an issue passes each of these points only once. */
export const killPointsAtEnd: Readonly<Record<string, KillPlan>> = {
  'after the agent has moved its issue': sql('update "board_issues".*review', 'after_commit'),
  'after a turn': sql('insert into "run_events".*turn_completed', 'before'),
  // @conforms fault.4
  'in the hook after a run': { at: 'spawn', pattern: 'after-run', when: 'after' },
  'while the outcome is written': sql('update "runs" set "ended_at"', 'after'),
  // The end of a run and what follows are one transaction: an issue that its agent moved is released with it.
  // @conforms fault.5
  'after the outcome was written': sql('update "runs" set "ended_at"', 'after_commit'),
  'while the claim is released': sql('update "claims" set "owner"', 'after'),
  'after the claim was released': sql('update "claims" set "owner"', 'after_commit'),
};

/** In the phases of one issue: each is passed several times. */
export const killPointsInPhases: Readonly<Record<string, readonly KillPlan[]>> = {
  'while and after its agent completes a phase': [
    sql('insert into "completion_claims"', 'after'),
    sql('insert into "completion_claims"', 'after_commit'),
  ],
  'while and after a completion is decided': [
    sql('update "completion_claims".*advanced', 'after'),
    sql('update "completion_claims".*advanced', 'after_commit'),
  ],
  'before and after its labels are written': [
    sql('update "phases" set "mirroring_json"', 'after_commit'),
    sql('update "phases" set "mirrored_json"', 'before'),
  ],
};

/** Here the daemon does something other than run issues; the tests say what. */
export const killInReload: KillPlan = { at: 'log', pattern: '"workflow_reloaded"', when: 'after' };
export const killInMigration: readonly KillPlan[] = [
  { at: 'sql', pattern: 'create table.*"runs"', when: 'after' },
  { at: 'sql', pattern: 'insert into "baton_migrations"', when: 'after' },
  { at: 'sql', pattern: 'insert into "baton_migrations"', when: 'after_commit' },
];
const shutdown = '"orchestrator_stopping"';
export const killInShutdown: readonly KillPlan[] = [
  { at: 'log', pattern: shutdown, when: 'after' },
  // The first match is the request itself.
  { at: 'log', pattern: '"run_stopping"', when: 'after', occurrence: 2 },
  sql('update "runs" set "ended_at"', 'after', shutdown),
  sql('update "claims" set "owner"', 'after', shutdown),
  sql('update "claims" set "owner"', 'after_commit', shutdown),
];
