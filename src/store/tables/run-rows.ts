import { type ExpressionBuilder, sql } from 'kysely';
import type { RunEnd } from '../../core/run/run.ts';
import type { RunEvidence } from '../../core/run/run-evidence.ts';
import { fromJsonText, toJsonText } from '../json.ts';
import type { Database } from '../schema.ts';
import { cutToBytes } from '../storable-text.ts';
import type { RunFacts, RunRecord, WorkspaceRemoval } from './runs.ts';

/** Bytes of the last message that a run keeps; the transcript has all of it. */
const longestLastMessage = 4_096;

export const runColumns = [
  'seq',
  'run_id as runId',
  'project',
  'issue_id as issueId',
  'identifier',
  'generation',
  'role',
  'attempt',
  'retry_kind as retryKind',
  'recovery',
  'note',
  'backend',
  'account',
  'host',
  'started_at as startedAt',
  'pid',
  'pid_start_time as pidStartTime',
  'workspace',
  'thread_id as threadId',
  'turns',
  'last_message as lastMessage',
  'input_tokens as inputTokens',
  'cached_input_tokens as cachedInputTokens',
  'output_tokens as outputTokens',
  'reasoning_tokens as reasoningTokens',
  'total_tokens as totalTokens',
  'cost_micro_usd as costMicroUsd',
  'ended_at as endedAt',
  'outcome',
  'error_code as errorCode',
  'error_message as errorMessage',
  'evidence_json as evidence',
  'removal_json as removal',
] as const;

interface RunRow extends Omit<RunRecord, 'finish' | 'evidence' | 'removal'> {
  readonly endedAt: number | null;
  readonly outcome: RunEnd | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly evidence: string | null;
  readonly removal: string | null;
}

export function runFrom({ endedAt, outcome, errorCode, errorMessage, evidence, removal, ...run }: RunRow): RunRecord {
  return {
    ...run,
    finish: endedAt === null || outcome === null ? null : { endedAt, outcome, errorCode, errorMessage },
    // Only `toJsonText` of these types writes the texts.
    evidence: fromJsonText(evidence) as RunEvidence | null,
    removal: fromJsonText(removal) as WorkspaceRemoval | null,
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
    ...(facts.note === undefined ? {} : { note: facts.note }),
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
