import type { KillPlan } from '../kill-plan.ts';

const spawned = (pattern: string, when: KillPlan['when']): KillPlan => ({ at: 'spawn', pattern, when });
const sql = (pattern: string, when: KillPlan['when']): KillPlan => ({ at: 'sql', pattern, when });

/** In the check of the scene: its command line and what it writes. */
export const checkMark = 'check-of-the-test';

/**
 * Points on the way of a change from a commit to its base, in order. The plans of a list are daemons killed one after
 * the other; each finds the state that the previous one left, and reaches its own point.
 */
export const killPointsToReview: Readonly<Record<string, readonly KillPlan[]>> = {
  'before and after its branch is published': [
    spawned(' fetch .*/scratch/publish-', 'before'),
    spawned(' fetch .*/scratch/publish-', 'after_exit'),
    spawned(' update-ref .*baton: work of an agent', 'before'),
    spawned(' update-ref .*baton: work of an agent', 'after'),
    sql('update "runs" set "ended_at".*"succeeded"', 'before'),
    sql('update "runs" set "ended_at".*"succeeded"', 'after'),
    sql('update "runs" set "ended_at".*"succeeded"', 'after_commit'),
  ],
  'before, while and after its pull request is opened': [
    sql('insert into "pull_requests"', 'before'),
    sql('insert into "pull_requests"', 'after'),
    sql('insert into "pull_rounds"', 'after'),
    sql('insert into "pull_requests"', 'after_commit'),
    sql('update "board_issues".*"review"', 'before'),
    sql('update "board_issues".*"review"', 'after_commit'),
    sql('update "pull_requests" set "moved_at"', 'before'),
    sql('update "pull_requests" set "moved_at"', 'after_commit'),
  ],
};

export const killPointsInChecks: readonly KillPlan[] = [
  sql('insert into "checks"', 'before'),
  sql('insert into "checks"', 'after_commit'),
  sql('update "checks" set "started_at"', 'before'),
  sql('update "checks" set "started_at"', 'after_commit'),
  spawned(checkMark, 'before'),
  spawned(checkMark, 'after'),
  sql('update "checks" set "ended_at"', 'before'),
  sql('update "checks" set "ended_at"', 'after_commit'),
];

/** A red check sends the change back to the agent. */
export const killPointsInSendBack: readonly KillPlan[] = [
  sql('update "pull_requests" set "sent_back_at"', 'before'),
  sql('insert into "messages"', 'after'),
  sql('update "pull_requests" set "sent_back_at"', 'after_commit'),
  sql('update "board_issues".*"todo"', 'before'),
  sql('update "board_issues".*"todo"', 'after_commit'),
  sql('insert into "pull_rounds"', 'before'),
  sql('insert into "pull_rounds"', 'after_commit'),
];

/** A person has asked for the merge; every daemon finds the request. */
export const killPointsInMerge: readonly KillPlan[] = [
  spawned(' hash-object -t commit ', 'before'),
  spawned(' hash-object -t commit ', 'after_exit'),
  spawned(' fetch .*/scratch/merge-', 'before'),
  spawned(' fetch .*/scratch/merge-', 'after_exit'),
  spawned(' update-ref .*baton: merge', 'before'),
  spawned(' update-ref .*baton: merge', 'after_exit'),
  sql('update "board_issues".*"done"', 'before'),
  sql('update "board_issues".*"done"', 'after_commit'),
  sql('update "pull_requests" set "merged_at"', 'before'),
  sql('update "pull_requests" set "merged_at"', 'after_commit'),
];
