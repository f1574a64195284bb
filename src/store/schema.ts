import type { Generated } from 'kysely';
import type { CommandAnswer } from '../core/command/command-answers.ts';
import type { MessageKind } from '../core/command/message.ts';
import type { BoardStatus } from '../core/issue/board-status.ts';
import type { LearningStatus } from '../core/learning/learning.ts';
import type { NotifyCause } from '../core/notify/notify-cause.ts';
import type { ClaimState } from '../core/pipeline/completion.ts';
import type { Verdict } from '../core/pull/judge.ts';
import type { CheckResult, MergeMethod, SentBackKind } from '../core/pull/pull-request.ts';
import type { AgentReason } from '../core/run/choose-agent.ts';
import type { RecoveryStep } from '../core/run/context-recovery.ts';
import type { RunEnd } from '../core/run/run.ts';
import type { TaskStatus } from '../core/task/task.ts';
import type { RetryKind } from '../core/workflow.ts';

/**
 * The tables as both engines have them after the last migration, for Kysely's types. `migrations/` makes them; a test
 * compares what the two engines made. Times are UTC milliseconds, columns ending in `_json` hold JSON as text.
 */
export interface Database {
  baton_migrations: { number: number; name: string; applied_at: number };
  projects: { id: string; name: string; created_at: number; checks_owner: string | null; checks_until: number | null };
  board_counters: { project: string; last_number: number };
  board_issues: BoardIssueColumns;
  board_blockers: { project: string; issue_id: string; blocker_id: string };
  board_comments: Seq & IssueColumns & { author_json: string; body: string; at: number };
  board_history: Seq &
    IssueColumns & {
      at: number;
      author_json: string;
      field: string;
      from_json: string | null;
      to_json: string | null;
      reason: string | null;
    };
  claims: IssueColumns & {
    /** Null when it is not held; the row stays, because it keeps the generation. */
    owner: string | null;
    generation: number;
    claimed_at: number;
    lease_until: number;
    slot_state: string | null;
    slot_role: string | null;
    host: string | null;
  };
  runs: RunColumns;
  prompt_runs: IssueColumns & {
    run_id: string;
    version: string;
    source: string;
    role: string;
    agent: string;
    outcome: RunEnd | null;
    started_at: number;
    ended_at: number | null;
    tokens: number;
    cost_micro_usd: number;
  };
  run_events: { run_id: string; seq: number; at: number; name: string; summary: string };
  questions: IssueColumns & {
    id: string;
    identifier: string;
    run_id: string;
    asked_at: number;
    question_json: string;
    /** Null until it is answered, and then the next two are null too. */
    answered_at: number | null;
    answer_json: string | null;
    author_json: string | null;
    /** A question is answered or closed, never both. */
    closed_at: number | null;
    delivered_to: string | null;
  };
  messages: Seq &
    IssueColumns & {
      id: string;
      at: number;
      kind: MessageKind;
      author_json: string;
      body: string;
      path: string | null;
      line: number | null;
      commit: string | null;
      given_to: string | null;
      settled_at: number | null;
    };
  accounts: {
    backend: string;
    name: string;
    windows_json: string;
    parked_json: string | null;
    parks: number;
    updated_at: number;
  };
  retries: IssueColumns & {
    identifier: string;
    url: string | null;
    role: string;
    kind: RetryKind | null;
    attempt: number | null;
    failures: number;
    stale_runs: number;
    due_at: number;
    error: string | null;
    recovery: RecoveryStep | null;
    agent: string | null;
  };
  held: IssueColumns & {
    identifier: string;
    role: string;
    code: string;
    reason: string;
    since: number;
    run_id: string | null;
  };
  run_texts: { project: string; kind: 'issue' | 'comment' | 'file'; text_id: string; run_id: string; at: number };
  pins: IssueColumns & { identifier: string; since: number; author_json: string };
  counters: IssueColumns & { name: string; value: number };
  job_timers: {
    project: string;
    job: string;
    /** Empty for a job that any daemon does for all: a key has no nulls. */
    owner: string;
    last_run_at: number | null;
    next_due_at: number;
    outcome: 'ok' | 'failed' | null;
    duration_ms: number | null;
    failures: number;
    error: string | null;
  };
  request_counts: {
    bucket: 'minute' | 'day';
    begins_at: number;
    provider: string;
    route: string;
    method: string;
    status_class: string;
    job: string;
    cause: string;
    count: number;
    bytes: number;
    latency_ms: number;
  };
  usage: IssueColumns & TokenColumns & { day: string; role: string; runs: number };
  commands: Seq & {
    id: string;
    project: string;
    kind: string;
    payload_json: string;
    author_json: string;
    at: number;
    key: string | null;
    result_at: number | null;
    result_status: 'done' | 'refused' | null;
    result_text: string | null;
    result_code: CommandAnswer['code'] | null;
    result_data_json: string | null;
  };
  notifications: {
    project: string;
    cause: string;
    target: string;
    nature: NotifyCause['nature'];
    /** The rest of the cause, as it was when it was first seen. */
    cause_json: string;
    first_seen_at: number;
    seen_at: number;
    over_at: number | null;
    message: string | null;
    tries: number;
    first_try_at: number | null;
    /** Null when it was sent, and when it is not tried any more. */
    next_try_at: number | null;
    sent_at: number | null;
    error: string | null;
  };
  finished_issues: IssueColumns & {
    identifier: string;
    title: string | null;
    url: string | null;
    state: string;
    at: number;
  };
  pull_requests: PullRequestColumns;
  pull_rounds: SentBackColumns & {
    project: string;
    number: number;
    /** From 1. */
    round: number;
    head_commit: string;
    base_commit: string;
    at: number;
    /** Null when a person moved the branch. */
    run_id: string | null;
  };
  checks: {
    project: string;
    number: number;
    commit_id: string;
    name: string;
    /** The order in which the checks of a commit run. */
    place: number;
    command: string;
    /** Null until it was started; it is started again when its daemon was lost. */
    started_at: number | null;
    /** Null until it ended or was skipped, and then the result is null too. */
    ended_at: number | null;
    exit_code: number | null;
    result: CheckResult | null;
    output: string | null;
  };
  phases: IssueColumns & {
    phase: string;
    since: number;
    revisions: number;
    revision_since: number | null;
    skipped_json: string;
    /** Null: no labels were written. */
    mirrored_json: string | null;
    mirrored_at: number | null;
    mirroring_json: string | null;
    /** The time of the database at the last write; another one after each write. */
    changed_at: number;
  };
  plans: IssueColumns & {
    run_id: string;
    summary: string;
    at: number;
    depth: number;
    /** Null: not all of it is in the tracker yet. */
    made_at: number | null;
  };
  /** `issue_id` is the child's. */
  plan_children: IssueColumns & {
    parent_id: string;
    place: number;
    title: string;
    description: string;
    priority: number | null;
    labels_json: string;
    blocked_by_json: string;
    identifier: string | null;
  };
  artifacts: IssueColumns & {
    phase: string;
    version: number;
    author_json: string;
    body: string;
    size: number;
    sha256: string;
    at: number;
  };
  completion_claims: IssueColumns & {
    id: string;
    phase: string;
    run_id: string | null;
    path: string;
    version: number | null;
    summary: string;
    skip_to: string | null;
    found_json: string;
    state: ClaimState;
    reasons_json: string;
    opinion_json: string | null;
    judged_by_json: string | null;
    at: number;
    /** Null while it is pending, or waits for a judge. */
    decided_at: number | null;
  };
  learnings: {
    project: string;
    number: number;
    body: string;
    status: LearningStatus;
    origins_json: string;
    author_json: string;
    client_key: string;
    created_at: number;
    changed_at: number;
  };
  learning_offers: IssueColumns & { number: number; at: number };
  tasks: {
    project: string;
    id: string;
    kind: string;
    title: string;
    body: string;
    status: TaskStatus;
    proposal_json: string | null;
    error_json: string | null;
    author_json: string;
    created_at: number;
    changed_at: number;
  };
  verdicts: {
    project: string;
    number: number;
    commit_id: string;
    place: number;
    run_id: string;
    agent: string;
    prompt_version: string;
    verdict: Verdict['verdict'];
    summary: string;
    findings_json: string;
    at: number;
    host_id: string | null;
    host_tried_at: number | null;
  };
}

interface Seq {
  seq: Generated<number>;
}

interface IssueColumns {
  project: string;
  issue_id: string;
}

interface TokenColumns {
  input_tokens: number;
  cached_input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  total_tokens: number;
  cost_micro_usd: number;
}

interface BoardIssueColumns {
  project: string;
  id: string;
  identifier: string;
  title: string;
  description: string | null;
  status: BoardStatus;
  priority: number | null;
  /** 1 to 4 for those priorities and 5 for everything else, so that an index has the dispatch order. */
  dispatch_rank: number;
  labels_json: string;
  parent_id: string | null;
  branch: string | null;
  url: string | null;
  client_key: string | null;
  created_at: number;
  updated_at: number;
}

/** Who sent a change back, and why; null: no one did. */
interface SentBackColumns {
  sent_back_at: number | null;
  sent_back_by_json: string | null;
  sent_back_kind: SentBackKind | null;
}

interface PullRequestColumns extends IssueColumns, SentBackColumns {
  /** Counts from 1 in its project and is never given twice. */
  number: number;
  identifier: string;
  title: string;
  body: string;
  host: string;
  /** At its host; null where Baton's own number is the only one. */
  host_number: number | null;
  url: string | null;
  repository: string;
  branch: string;
  base: string;
  base_commit: string;
  head_commit: string;
  opened_at: number;
  opened_by_json: string;
  /** Since when the head is in review. */
  standing_since: number;
  /** When its issue was moved to review for this head; null: still to do. */
  moved_at: number | null;
  times_sent_back: number;
  approved_commit: string | null;
  approved_by_json: string | null;
  approved_at: number | null;
  merged_at: number | null;
  merged_by_json: string | null;
  /** The commit of the base that contains the change. */
  merged_commit: string | null;
  merged_method: MergeMethod | null;
  closed_at: number | null;
  closed_by_json: string | null;
}

interface RunColumns extends IssueColumns, TokenColumns {
  run_id: string;
  /** Grows with each start in the project; what came later has the larger one. */
  seq: number;
  identifier: string;
  /** The identifier in lower case. */
  name_key: string;
  generation: number;
  role: string;
  /** Of the pipeline; null outside of one, and for the worker. */
  phase: string | null;
  attempt: number | null;
  retry_kind: RetryKind | null;
  backend: string;
  agent: string;
  agent_reason: AgentReason;
  chosen_agent: string | null;
  /** Of its prompt; null for a run from before this was stored. */
  prompt_version: string | null;
  prompt_source: string | null;
  account: string | null;
  recovery: RecoveryStep | null;
  host: string;
  started_at: number;
  pid: number | null;
  pid_start_time: number | null;
  workspace: string | null;
  thread_id: string | null;
  turns: number;
  last_message: string | null;
  /** Null while it is in progress, and then the next three are null too. */
  ended_at: number | null;
  outcome: RunEnd | null;
  error_code: string | null;
  error_message: string | null;
  /** What it left in its workspace; null until that was read. */
  evidence_json: string | null;
  /** The result of removing its workspace; null before the first try. */
  removal_json: string | null;
}
