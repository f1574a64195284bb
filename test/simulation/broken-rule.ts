/** A broken rule, with everything that is needed to examine it. */
export interface BrokenRule {
  readonly rule: RuleName;
  readonly seed: number;
  readonly atMs: number;
  readonly issue: string | null;
  readonly seen: string;
}

/** The rules. The files in `rules/` say what each means. */
export const ruleNames = [
  'one_agent',
  'slots',
  'claim_has_reason',
  'no_issue_forgotten',
  'backoff',
  'never_falls',
  'written_first',
  'counters',
  'limits',
  'held_stays',
  'live_workspace',
  'account_ready',
  'answers_delivered',
  'question_has_reason',
  'taken_over',
  'quota_waits',
  'context_recovery',
  'one_pull',
  'merge_once',
  'merge_finishes',
  'auto_merge',
  'done_needs_merge',
  'foreign_commits',
  'words_arrive',
  'honest_verdicts',
  'rounds',
  'honest_checks',
  'review_settles',
  'completion_once',
  'phase_forward',
  'work_waits',
  'phase_ends',
  'plan_once',
  'plan_bounds',
  'role_budgets',
  'filed_once',
  'task_unasked',
  'scan_due',
  'tasks_end',
  'task_runs',
  'proposed_stays',
  'issues_finish',
  'no_crash',
] as const;

export type RuleName = (typeof ruleNames)[number];

export function describeBroken({ rule, seed, atMs, issue, seen }: BrokenRule): string {
  const where = issue === null ? '' : `, issue ${issue}`;
  return `seed ${seed}, ${atMs} ms${where}: the rule ${rule} does not hold: ${seen}`;
}
