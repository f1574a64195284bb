import type { ReadModel, RetryingView } from '../orchestrator/view/read-model.ts';
import { mostFindings, presentFinding, presentJob, presentPressure } from './present-health.ts';

/**
 * The read model as other programs get it: snake case, ISO times. The names of running and retrying are those of the
 * specification's API (13.7).
 */
export function presentStatus(model: ReadModel): Record<string, unknown> {
  return {
    generated_at: iso(model.at),
    started_at: iso(model.startedAt),
    paused: model.paused === null ? null : { ...model.paused, since: iso(model.paused.since) },
    counts: {
      running: model.running.length,
      retrying: model.retrying.length,
      held: model.held.length,
      questions: model.questions.length,
      skipped: model.skipped.length,
    },
    slots: model.slots,
    running: model.running.map((entry) => ({
      issue_id: entry.issue.id,
      issue_identifier: entry.issue.identifier,
      issue_url: entry.issue.url,
      title: entry.issue.title,
      state: entry.issue.state,
      run_id: entry.runId,
      attempt: entry.attempt,
      stage: entry.stage,
      turn_count: entry.turn,
      session_id: entry.threadId,
      workspace_path: entry.workspace,
      pid: entry.process?.pid ?? null,
      started_at: iso(entry.startedAt),
      last_event: entry.lastEvent?.name ?? null,
      last_message: entry.lastEvent?.summary ?? null,
      last_event_at: entry.lastEvent === null ? null : iso(entry.lastEvent.at),
      tokens: tokens(entry.usage),
      cached_input_tokens: entry.usage.cachedInputTokens,
      reasoning_tokens: entry.usage.reasoningTokens,
      cost_usd: entry.usage.costMicroUsd / 1_000_000,
      account: entry.account,
      waits_for_person: entry.isAsking,
      warnings: entry.warnings.map(({ limit, level, text }) => ({ limit, level, text })),
    })),
    retrying: model.retrying.map(presentLook),
    waiting_quota: model.waitingQuota.map(presentLook),
    held: model.held.map(({ issue, code, reason, since, runId }) => ({
      issue_id: issue.id,
      issue_identifier: issue.identifier,
      code,
      reason,
      since: iso(since),
      run_id: runId,
    })),
    questions: model.questions.map(({ id, issue, runId, question, askedAt, until }) => ({
      id,
      issue_id: issue.id,
      issue_identifier: issue.identifier,
      run_id: runId,
      kind: question.kind,
      text: question.text,
      asked_at: iso(askedAt),
      waits_until: iso(until),
    })),
    accounts: model.accounts.map(({ backend, name, windows, parked, waitsFor }) => ({
      backend,
      name,
      parked_until: parked === null ? null : iso(parked.until),
      parked_for: parked?.why ?? null,
      reason: parked?.reason ?? null,
      waits_for: waitsFor,
      windows: windows.map((window) => ({
        name: window.name,
        used_percent: window.usedPercent,
        window_minutes: window.windowMinutes,
        resets_at: window.resetsAt === null ? null : iso(window.resetsAt),
      })),
    })),
    skipped: model.skipped.map(({ issue, reason }) => ({
      issue_id: issue.id,
      issue_identifier: issue.identifier,
      title: issue.title,
      state: issue.state,
      code: reason.code,
      reason: reason.text,
    })),
    completed: model.completed.map(({ issue, state, at }) => ({
      issue_id: issue.id,
      issue_identifier: issue.identifier,
      state,
      at: iso(at),
    })),
    totals: { runs: model.totals.runs, runs_by_end: model.totals.runsByEnd, ...tokens(model.totals) },
    polling: {
      mode: model.polling.mode,
      interval_ms: model.polling.intervalMs,
      last_activity_at: iso(model.polling.lastActivityAt),
      quiet_until: model.polling.quietUntil === null ? null : iso(model.polling.quietUntil),
      failures: model.polling.failures,
      pressure: presentPressure(model.polling.pressure),
      next_poll_at: nextPollAt(model),
      next_poll_due_at_ms: model.polling.nextPollDueAt,
      poll_check_in_progress: model.polling.pollCheckInProgress,
      ticks: model.polling.ticks,
    },
    jobs: model.jobs.map(presentJob),
    findings: model.findings.slice(0, mostFindings).map(presentFinding),
    workflow_problem: model.workflowProblem,
    no_room: model.noRoom,
    errors: model.errors,
  };
}

/** As a time of day: `next_poll_due_at_ms` is on a clock that means nothing outside. */
function nextPollAt({ jobs }: ReadModel): string | null {
  const at = jobs.find(({ name }) => name === 'tracker_poll')?.nextDueAt ?? null;
  return at === null ? null : iso(at);
}

function presentLook({
  issue,
  kind,
  attempt,
  dueAt,
  error,
  waitReason,
  waitCode,
}: RetryingView): Record<string, unknown> {
  return {
    issue_id: issue.id,
    issue_identifier: issue.identifier,
    issue_url: issue.url ?? null,
    kind,
    attempt,
    due_at: iso(dueAt),
    error,
    wait_reason: waitReason,
    wait_code: waitCode,
  };
}

function tokens(usage: { inputTokens: number; outputTokens: number; totalTokens: number }): Record<string, number> {
  return { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens, total_tokens: usage.totalTokens };
}

/** What an agent told may be no date at all; a status is told all the same. */
function iso(at: number): string | null {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
