import type { RunEvidence } from '../../core/run/run-evidence.ts';
import { fromJsonText } from '../json-text.ts';
import type { Database } from '../schema.ts';
import type { RunRecord, RunStart, WorkspaceRemoval } from './runs.ts';

export function rowFromStart(run: RunStart): Omit<Database['runs'], 'seq'> {
  return {
    run_id: run.runId,
    project: run.project,
    issue_id: run.issueId,
    identifier: run.identifier,
    name_key: run.identifier.toLowerCase(),
    generation: run.generation,
    role: run.role,
    attempt: run.attempt,
    retry_kind: run.retryKind,
    recovery: run.recovery ?? null,
    note: run.note ?? null,
    backend: run.backend,
    account: run.account,
    host: run.host,
    started_at: run.startedAt,
    pid: null,
    pid_start_time: null,
    workspace: null,
    thread_id: null,
    turns: 0,
    last_message: null,
    input_tokens: 0,
    cached_input_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
    total_tokens: 0,
    cost_micro_usd: 0,
    ended_at: null,
    outcome: null,
    error_code: null,
    error_message: null,
    evidence_json: null,
    removal_json: null,
  };
}

export function runFrom(row: Database['runs']): RunRecord {
  return {
    seq: row.seq,
    runId: row.run_id,
    project: row.project,
    issueId: row.issue_id,
    identifier: row.identifier,
    generation: row.generation,
    role: row.role,
    attempt: row.attempt,
    retryKind: row.retry_kind,
    recovery: row.recovery,
    note: row.note,
    backend: row.backend,
    account: row.account,
    host: row.host,
    startedAt: row.started_at,
    pid: row.pid,
    pidStartTime: row.pid_start_time,
    workspace: row.workspace,
    threadId: row.thread_id,
    turns: row.turns,
    lastMessage: row.last_message,
    inputTokens: row.input_tokens,
    cachedInputTokens: row.cached_input_tokens,
    outputTokens: row.output_tokens,
    reasoningTokens: row.reasoning_tokens,
    totalTokens: row.total_tokens,
    costMicroUsd: row.cost_micro_usd,
    finish:
      row.ended_at === null || row.outcome === null
        ? null
        : {
            endedAt: row.ended_at,
            outcome: row.outcome,
            errorCode: row.error_code,
            errorMessage: row.error_message,
          },
    // Written from these types, and by nobody else.
    evidence: fromJsonText(row.evidence_json) as RunEvidence | null,
    removal: fromJsonText(row.removal_json) as WorkspaceRemoval | null,
  };
}
