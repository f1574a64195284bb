/** Why an issue does not start now, by the stable code that programs look for. docs/waiting.md lists both tables. */
export const skipReasons = {
  claimed: 'This daemon works on it, will retry it, or keeps it on hold.',
  claimed_elsewhere: 'Another daemon has its claim.',
  left_by_previous_daemon: 'A daemon that is gone had its claim. The next daemon inherits the claim.',
  cleaning: 'Its workspace is being removed.',
  workflow_problem: 'The workflow file cannot be used.',
  paused: 'Baton is paused or draining.',
  day_limit: 'The limit of the day is reached.',
  role_budget: 'The budget of its role for the day is used up (`<role>.runs_per_day`, `<role>.usd_per_day`).',
  no_headroom: 'There is too little free disk or memory.',
  environment: 'No run can begin: the repository, the program of the agent or the service of its model does not work.',
  no_requests: 'The requests to the tracker are used up for now.',
  waiting_quota: 'No account of its agent is ready.',
  unknown_agent: 'Its label or its state names an agent that is not in the workflow file (`agents`).',
  max_in_review: 'Too many issues wait for review (`agent.max_in_review`).',
  max_claimed: 'Too many issues are claimed (`agent.max_claimed`).',
  not_chosen: '`--only` or `--max-runs` excludes it.',
  missing_field: 'It lacks an id, an identifier, a title or a state.',
  not_dispatchable: 'The tracker says that no agent may start on it.',
  missing_label: 'It lacks a label of `tracker.required_labels`.',
  terminal_state: 'Its state is terminal.',
  inactive_state: 'Its state is not active.',
  blocked: 'It waits for other issues.',
  not_read: 'Baton failed to read it again before its start.',
  tracker_backoff: 'The tracker failed; Baton waits before it asks again.',
  not_recorded: 'Baton failed to record its start.',
  not_delivered: 'Baton failed to bring its change into review, and tries again.',
  not_judged: 'It no longer needs a judge: its change or its artifact is not waiting for a verdict any more.',
  phase_pending: 'Its agent has ended the phase, and Baton decides what follows.',
  task_over: 'The task needs no agent any more.',
  phase_changed: 'It is in another phase now.',
  phase_unknown: 'Its phase is not in `pipeline.phases` any more; move it to another phase.',
  plan_changed: 'The planner has split it, or decided not to; Baton decides again at the next tick.',
  plan_pending: 'It is part of a plan that Baton is still writing to the tracker.',
  limit_reached: 'The issue has reached one of its own limits.',
  project_full: 'All slots of the project are taken.',
  state_full: 'All slots for its state are taken.',
  global_full: 'All slots that the projects share (`--max-agents`) are taken.',
} as const;

export type SkipCode = keyof typeof skipReasons;

/** What happens next with an issue. */
export const nextCodes = {
  starts_next_tick: 'It starts at the next tick.',
  starts_with_daemon: 'It starts when a daemon runs.',
  run_continues: 'Its run continues.',
  run_asks: 'Its run waits for an answer from a person.',
  held: 'It is on hold until a person retries or releases it.',
  retry_waits: 'Its retry is due, but something keeps it from starting.',
  retry_scheduled: 'Its retry is scheduled.',
  retry_obstructed: 'Its retry is scheduled, but if nothing changes, it cannot start.',
  needs_change: 'It starts only after a person changes the issue.',
  waits: 'It waits. The table above lists the reasons.',
} as const;

export type NextCode = keyof typeof nextCodes;
