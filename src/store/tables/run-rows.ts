import { type ExpressionBuilder, sql } from 'kysely';
import type { RunEvidence } from '../../core/run/run-evidence.ts';
import { fromJsonText, toJsonText } from '../json.ts';
import type { Database } from '../schema.ts';
import { cutToBytes } from '../storable-text.ts';
import type { RunFacts, RunRecord, WorkspaceRemoval } from './runs.ts';

/** Bytes of the last message that a run keeps; the transcript has all of it. */
const longestLastMessage = 4_096;

export function runFrom(row: Database['runs']): RunRecord {
  return {
    seq: row.seq,
    runId: row.run_id,
    project: row.project,
    issueId: row.issue_id,
    identifier: row.identifier,
    generation: row.generation,
    role: row.role,
    phase: row.phase,
    attempt: row.attempt,
    retryKind: row.retry_kind,
    recovery: row.recovery,
    backend: row.backend,
    agent: row.agent,
    agentReason: row.agent_reason,
    chosenAgent: row.chosen_agent,
    prompt: row.prompt_version === null ? null : { version: row.prompt_version, source: row.prompt_source ?? '' },
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
    // Only `toJsonText` of these types writes the texts.
    evidence: fromJsonText(row.evidence_json) as RunEvidence | null,
    removal: fromJsonText(row.removal_json) as WorkspaceRemoval | null,
  };
}

/** The columns that new facts change. */
export function factColumns(eb: ExpressionBuilder<Database, 'runs'>, facts: RunFacts) {
  return {
    ...(facts.pid === undefined ? {} : { pid: facts.pid }),
    ...(facts.pidStartTime === undefined ? {} : { pid_start_time: facts.pidStartTime }),
    ...(facts.workspace === undefined ? {} : { workspace: facts.workspace }),
    ...(facts.evidence === undefined ? {} : { evidence_json: toJsonText(facts.evidence) }),
    ...(facts.threadId === undefined ? {} : { thread_id: facts.threadId }),
    ...(facts.lastMessage === undefined ? {} : { last_message: cutToBytes(facts.lastMessage, longestLastMessage) }),
    ...totals(eb, facts),
  };
}

const columnOfTotal = {
  turns: 'turns',
  inputTokens: 'input_tokens',
  cachedInputTokens: 'cached_input_tokens',
  outputTokens: 'output_tokens',
  reasoningTokens: 'reasoning_tokens',
  totalTokens: 'total_tokens',
  costMicroUsd: 'cost_micro_usd',
} as const;

/** A total never falls: reports may come out of order. */
function totals(eb: ExpressionBuilder<Database, 'runs'>, facts: RunFacts) {
  const known = Object.entries(columnOfTotal).flatMap(([name, column]) => {
    const value = facts[name as keyof typeof columnOfTotal];
    if (value === undefined) return [];
    const larger = eb.case().when(column, '<', value).then(sql<number>`${value}`).else(eb.ref(column)).end();
    return [[column, larger] as const];
  });
  return Object.fromEntries(known);
}
