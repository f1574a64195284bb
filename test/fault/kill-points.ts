import type { KillPlan } from './kill-plan.ts';

/**
 * The points at which a daemon is killed, in the order of a run. A new one is a line here: what to listen to, what to
 * match, and on which side of it to die. Several plans are killed lives one after the other.
 */
export const killPoints: Readonly<Record<string, readonly KillPlan[]>> = {
  'before the run is written down': [{ at: 'sql', pattern: 'insert into "runs"', when: 'before' }],
  'after the claim': [{ at: 'sql', pattern: 'insert into "runs"', when: 'after_commit' }],
  'after the claim of the second ticket': [
    { at: 'sql', pattern: 'insert into "runs"', when: 'after_commit', occurrence: 2 },
  ],
  'after the board was told that work begins': [
    { at: 'sql', pattern: 'update "board_issues".*in_progress', when: 'after_commit' },
  ],
  'while a workspace is made': [{ at: 'file', pattern: '^writeFile .*\\+making\\+', when: 'after' }],
  'in the hook after a workspace was made': [{ at: 'spawn', pattern: 'after-create', when: 'after' }],
  'before the spawn': [{ at: 'spawn', pattern: 'rehearsal/program', when: 'before' }],
  'after the spawn': [{ at: 'spawn', pattern: 'rehearsal/program', when: 'after' }],
  'before the first event': [{ at: 'sql', pattern: 'insert into "run_events"', when: 'before' }],
  'in a turn': [{ at: 'sql', pattern: 'insert into "run_events".*at work', when: 'after_commit' }],
  'after the agent has moved its ticket': [
    { at: 'sql', pattern: 'update "board_issues".*review', when: 'after_commit' },
  ],
  'after the turn': [{ at: 'sql', pattern: 'insert into "run_events".*turn_completed', when: 'before' }],
  'in the hook after a run': [{ at: 'spawn', pattern: 'after-run', when: 'after' }],
  'while the outcome is written': [{ at: 'sql', pattern: 'update "runs" set "ended_at"', when: 'after' }],
  'after the outcome was written': [{ at: 'sql', pattern: 'update "runs" set "ended_at"', when: 'after_commit' }],
  'in the turn, and again while the next life clears up': [
    { at: 'sql', pattern: 'insert into "run_events".*at work', when: 'after_commit' },
    { at: 'log', pattern: 'A run of an earlier life is ended', when: 'after' },
  ],
  'in the turn, and again while the next life writes that down': [
    { at: 'sql', pattern: 'insert into "run_events".*at work', when: 'after_commit' },
    { at: 'sql', pattern: 'update "runs" set "ended_at"', when: 'after' },
  ],
};

/** Those of claims and retries that are durable; they wait for `awaits-rewrite.ts`. */
export const durableKillPoints: Readonly<Record<string, readonly KillPlan[]>> = {
  'in the middle of the claim': [{ at: 'sql', pattern: 'insert into "claims"', when: 'after' }],
  'after the claim was given back': [{ at: 'sql', pattern: 'update "claims" set "owner"', when: 'after_commit' }],
  'while the look after a run is promised': [{ at: 'sql', pattern: 'insert into "retries"', when: 'after' }],
  'after the look after a run was promised': [{ at: 'sql', pattern: 'insert into "retries"', when: 'after_commit' }],
};

/** In these the daemon does something else than run tickets; their tests say what. */
export const killInReload: KillPlan = { at: 'log', pattern: 'The workflow file was read again', when: 'after' };
export const killInMigration: readonly KillPlan[] = [
  { at: 'sql', pattern: 'create table.*"runs"', when: 'after' },
  { at: 'sql', pattern: 'insert into "baton_migrations"', when: 'after' },
  { at: 'sql', pattern: 'insert into "baton_migrations"', when: 'after_commit' },
];
export const killInShutdown: Readonly<Record<string, KillPlan>> = {
  'when it begins': { at: 'log', pattern: 'The orchestrator stops', when: 'after' },
  'while it writes how a run ended': {
    at: 'sql',
    pattern: 'update "runs" set "ended_at"',
    when: 'after',
    since: 'The orchestrator stops',
  },
};
