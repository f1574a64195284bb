import { makeTable, type TableSpec } from './make-table.ts';
import type { Migration } from './migration.ts';

const ofIssue = 'project issue_id';
const tokens = 'input_tokens cached_input_tokens output_tokens reasoning_tokens total_tokens cost_micro_usd';

/** The schema of the first release. Tables come after those that they refer to. */
export const firstSchema: Migration = {
  name: '0001-schema',
  up: async (db, types) => {
    for (const table of tables) await makeTable(db, types, table);
  },
};

const tables: readonly TableSpec[] = [
  {
    name: 'projects',
    text: 'id name checks_owner?',
    integer: 'created_at checks_until?',
    key: 'id',
    constraints: { projects_name: 'unique (name)' },
  },

  { name: 'board_counters', text: 'project', integer: 'last_number', key: 'project' },
  {
    name: 'board_issues',
    text: 'project id identifier title description? status labels_json parent_id? branch? url? client_key?',
    integer: 'priority? dispatch_rank created_at updated_at',
    key: 'project id',
    constraints: {
      board_issues_identifier: 'unique (project, identifier)',
      board_issues_client_key: 'unique (project, client_key)',
      // Deferred, so that issues that name each other may be brought in together in any order.
      board_issues_parent:
        'foreign key (project, parent_id) references board_issues (project, id) deferrable initially deferred',
    },
    indexes: {
      board_issues_dispatch: '(project, status, dispatch_rank, created_at, identifier)',
      board_issues_page: '(project, status, updated_at, id)',
      board_issues_children: '(project, parent_id, created_at) where parent_id is not null',
    },
  },
  {
    name: 'board_blockers',
    text: `${ofIssue} blocker_id`,
    key: `${ofIssue} blocker_id`,
    constraints: {
      board_blockers_issue: 'foreign key (project, issue_id) references board_issues (project, id)',
      board_blockers_blocker: 'foreign key (project, blocker_id) references board_issues (project, id)',
    },
    indexes: { board_blockers_blocked: '(project, blocker_id)' },
  },
  {
    name: 'board_comments',
    text: `${ofIssue} author_json body`,
    integer: 'at',
    key: 'seq',
    constraints: { board_comments_issue: 'foreign key (project, issue_id) references board_issues (project, id)' },
    indexes: { board_comments_of_issue: '(project, issue_id, seq)' },
  },
  {
    name: 'board_history',
    text: `${ofIssue} author_json field from_json? to_json? reason?`,
    integer: 'at',
    key: 'seq',
    constraints: { board_history_issue: 'foreign key (project, issue_id) references board_issues (project, id)' },
    indexes: { board_history_of_issue: '(project, issue_id, seq)' },
  },

  {
    name: 'claims',
    text: `${ofIssue} owner? slot_state? slot_role? host?`,
    integer: 'generation claimed_at lease_until',
    key: ofIssue,
    indexes: { claims_held: '(project, claimed_at) where owner is not null' },
  },
  {
    name: 'retries',
    text: `${ofIssue} identifier url? role kind? error? recovery? agent?`,
    integer: 'attempt? failures stale_runs due_at',
    key: ofIssue,
    indexes: { retries_due: '(project, due_at, issue_id)' },
  },
  { name: 'held', text: `${ofIssue} identifier role code reason run_id?`, integer: 'since', key: ofIssue },
  { name: 'counters', text: `${ofIssue} name`, integer: 'value', key: `${ofIssue} name` },
  {
    name: 'job_timers',
    text: 'project job owner outcome? error?',
    integer: 'last_run_at? next_due_at duration_ms? failures',
    key: 'project job owner',
  },
  { name: 'run_texts', text: 'project kind text_id run_id', integer: 'at', key: 'project kind text_id' },
  { name: 'pins', text: `${ofIssue} identifier author_json`, integer: 'since', key: ofIssue },
  {
    name: 'finished_issues',
    text: `${ofIssue} identifier title? url? state`,
    integer: 'at',
    key: ofIssue,
    indexes: { finished_latest: '(project, at, issue_id)', finished_oldest: '(at)' },
  },
  {
    name: 'accounts',
    text: 'backend name windows_json parked_json?',
    integer: 'parks updated_at',
    key: 'backend name',
  },

  {
    name: 'runs',
    text:
      `run_id ${ofIssue} identifier name_key role phase? retry_kind? backend agent agent_reason chosen_agent? account? recovery? host workspace? prompt_version? prompt_source? ` +
      'thread_id? last_message? outcome? error_code? error_message? evidence_json? removal_json?',
    // `seq` is the order in which the runs of a project started: a clock can be set back.
    integer: `seq generation attempt? started_at pid? pid_start_time? turns ${tokens} ended_at?`,
    key: 'run_id',
    indexes: {
      runs_newest: '(project, seq, run_id)',
      runs_of_issue: '(project, issue_id, seq, run_id)',
      // The identifier in lower case, so that an issue is found by its name however many runs came after.
      runs_of_name: '(project, name_key, seq, run_id)',
      runs_in_workspace: '(project, workspace, seq, run_id)',
      runs_ended: '(ended_at)',
      runs_of_role: '(project, role, ended_at)',
      // With the whole order in it: without, SQLite reads all runs of the project to find the few in progress.
      runs_unfinished: '(project, seq, run_id) where ended_at is null',
    },
  },
  {
    // What the metrics of prompts need of runs that were removed.
    name: 'prompt_runs',
    text: `run_id ${ofIssue} version source role agent outcome?`,
    integer: 'started_at ended_at? tokens cost_micro_usd',
    key: 'run_id',
    indexes: { prompt_runs_started: '(project, started_at)', prompt_runs_of_issue: '(project, issue_id, started_at)' },
  },
  {
    name: 'run_events',
    text: 'run_id name summary',
    integer: 'seq at',
    key: 'run_id seq',
    constraints: { run_events_run: 'foreign key (run_id) references runs (run_id) on delete cascade' },
  },
  {
    name: 'request_counts',
    text: 'bucket provider route method status_class job cause',
    integer: 'begins_at count bytes latency_ms',
    key: 'bucket begins_at provider route method status_class job cause',
  },
  {
    name: 'usage',
    text: `${ofIssue} day role`,
    integer: `${tokens} runs`,
    key: 'project day issue_id role',
    indexes: { usage_of_issue: '(project, issue_id)' },
  },

  {
    name: 'commands',
    text:
      'id project kind payload_json author_json key? ' + 'result_status? result_text? result_code? result_data_json?',
    integer: 'at result_at?',
    key: 'seq',
    constraints: { commands_id: 'unique (id)', commands_key: 'unique (project, key)' },
    indexes: {
      commands_newest: '(project, seq)',
      commands_executed: '(result_at)',
      commands_done: "(project, kind, seq) where result_status = 'done'",
      commands_waiting: '(project, seq) where result_at is null',
    },
  },
  {
    // No foreign key to `runs`: a question may be open for longer than its run is kept.
    name: 'questions',
    text: `id ${ofIssue} identifier run_id question_json answer_json? author_json? delivered_to?`,
    integer: 'asked_at answered_at? closed_at?',
    key: 'id',
    indexes: {
      questions_newest: '(project, asked_at, id)',
      questions_of_issue: '(project, issue_id, asked_at, id)',
      questions_asked: '(asked_at, id)',
      questions_open: '(project, asked_at, id) where answered_at is null and closed_at is null',
    },
  },
  {
    // No foreign key to `runs`: a message may wait for longer than the run that had it is kept.
    name: 'messages',
    text: `id ${ofIssue} kind author_json body path? commit? given_to?`,
    integer: 'at line? settled_at?',
    key: 'seq',
    constraints: { messages_id: 'unique (id)' },
    indexes: {
      messages_of_issue: '(project, issue_id, seq)',
      messages_settled: '(settled_at)',
      messages_latest: '(project, at)',
    },
  },
  {
    name: 'notifications',
    text: 'project cause target nature cause_json message? error?',
    integer: 'first_seen_at seen_at over_at? tries first_try_at? next_try_at? sent_at?',
    key: 'project cause target',
    indexes: { notifications_seen: '(seen_at)' },
  },

  {
    name: 'pull_requests',
    text:
      `${ofIssue} identifier title body host url? repository branch base base_commit head_commit opened_by_json ` +
      'sent_back_by_json? sent_back_kind? approved_commit? approved_by_json? merged_by_json? merged_commit? ' +
      'merged_method? closed_by_json?',
    integer:
      'number host_number? opened_at standing_since moved_at? sent_back_at? times_sent_back approved_at? merged_at? closed_at?',
    key: 'project number',
    indexes: {
      pull_requests_of_issue: '(project, issue_id, number)',
      pull_requests_open: '(project, number) where merged_at is null and closed_at is null',
    },
    // At most one open for an issue, whatever the daemons do.
    uniqueIndexes: {
      pull_requests_one_open: '(project, issue_id) where merged_at is null and closed_at is null',
    },
  },
  {
    // No foreign key to `runs`: a pull request may be open for longer than its runs are kept.
    name: 'pull_rounds',
    text: 'project head_commit base_commit run_id? sent_back_by_json? sent_back_kind?',
    integer: 'number round at sent_back_at?',
    key: 'project number round',
    constraints: {
      pull_rounds_pull_request: 'foreign key (project, number) references pull_requests (project, number)',
    },
  },
  {
    name: 'checks',
    text: 'project commit_id name command result? output?',
    integer: 'number place started_at? ended_at? exit_code?',
    key: 'project number commit_id name',
    constraints: { checks_pull_request: 'foreign key (project, number) references pull_requests (project, number)' },
    indexes: {
      checks_ended: '(ended_at)',
      checks_unfinished: '(project, number, place) where ended_at is null',
    },
  },
  {
    name: 'phases',
    text: `${ofIssue} phase skipped_json mirrored_json? mirroring_json?`,
    integer: 'since revisions revision_since? mirrored_at? changed_at',
    key: ofIssue,
    indexes: {
      phases_in_revision: '(project, revision_since) where revision_since is not null',
      phases_changed: '(project, changed_at)',
    },
  },
  {
    name: 'artifacts',
    text: `${ofIssue} phase author_json body sha256`,
    integer: 'version size at',
    key: `${ofIssue} phase version`,
  },
  {
    // No foreign key to `runs`, as above.
    name: 'completion_claims',
    text: `id ${ofIssue} phase run_id? path summary skip_to? found_json state reasons_json opinion_json? judged_by_json?`,
    integer: 'version? at decided_at?',
    key: 'id',
    indexes: { completion_claims_of_issue: '(project, issue_id, at, id)' },
    // At most one open for an issue, whatever the daemons do.
    uniqueIndexes: { completion_claims_open: '(project, issue_id) where decided_at is null' },
  },
  {
    name: 'tasks',
    text: 'project id kind title body status proposal_json? error_json? author_json',
    integer: 'created_at changed_at',
    key: 'project id',
    indexes: { tasks_by_age: '(project, kind, created_at)', tasks_open: "(project, id) where status = 'waiting'" },
  },
  {
    name: 'learnings',
    text: 'project body status origins_json author_json client_key',
    integer: 'number created_at changed_at',
    key: 'project number',
    constraints: { learnings_client_key: 'unique (project, client_key)' },
  },
  {
    // Which issues got a learning: it outlives their runs.
    name: 'learning_offers',
    text: ofIssue,
    integer: 'number at',
    key: `${ofIssue} number`,
    constraints: {
      learning_offers_learning: 'foreign key (project, number) references learnings (project, number)',
    },
    indexes: { learning_offers_of_learning: '(project, number)' },
  },
  {
    // No foreign key to `runs`, as above.
    name: 'plans',
    text: `${ofIssue} run_id summary`,
    integer: 'at depth made_at?',
    key: ofIssue,
  },
  {
    // The issue is the child. Its id is known before it is made in the tracker.
    name: 'plan_children',
    text: `${ofIssue} parent_id title description labels_json blocked_by_json identifier?`,
    integer: 'place priority?',
    key: ofIssue,
    indexes: { plan_children_of_parent: '(project, parent_id, place)' },
  },
  {
    // No foreign key to `runs`, as above.
    name: 'verdicts',
    text: 'project commit_id run_id agent prompt_version verdict summary findings_json host_id?',
    integer: 'number place at host_tried_at?',
    key: 'project number commit_id place',
    constraints: { verdicts_pull_request: 'foreign key (project, number) references pull_requests (project, number)' },
  },
];
