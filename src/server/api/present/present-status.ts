import type { Status } from '../../../client/schema/status.ts';
import type { Finding } from '../../../client/schema/system.ts';
import type { BatonError } from '../../../core/baton-error.ts';
import { timeText } from '../../../core/text/time-text.ts';
import type { ReadModel, RetryingView } from '../../../orchestrator/view/read-model.ts';
import { reviews } from './needs-you.ts';
import { presentJob } from './present-job.ts';
import { accountRow, runningRows } from './present-now.ts';
import { phasesOfRows } from './present-pipeline.ts';
import { nameOf, tokensOf } from './present-symphony.ts';

/** The health report has the findings beyond this number. */
export const mostFindings = 50;

/** The whole read model for programs. */
export function presentStatus(
  model: ReadModel,
  { api, waitingCommands }: { readonly api: string | null; readonly waitingCommands: number },
): Status {
  const { polling, totals } = model;
  const phaseOf = phasesOfRows(model);
  const retries = (views: readonly RetryingView[]) =>
    views.map((retry) => ({ ...presentRetry(retry), ...phaseOf(retry.issue.id) }));
  return {
    generated_at: timeText(model.at),
    started_at: timeText(model.startedAt),
    api,
    paused: model.paused === null ? null : { ...model.paused, since: timeText(model.paused.since) },
    counts: {
      running: model.running.length,
      retrying: model.retrying.length,
      held: model.held.length,
      questions: model.questions.length,
      skipped: model.skipped.length,
    },
    waiting_commands: waitingCommands,
    slots: model.slots,
    running: runningRows(model),
    retrying: retries(model.retrying),
    waiting_quota: retries(model.waitingQuota),
    held: model.held.map(({ issue, code, reason, since, runId }) => ({
      ...nameOf(issue),
      ...phaseOf(issue.id),
      code,
      reason,
      since: timeText(since),
      run_id: runId,
    })),
    questions: model.questions.map(({ id, issue, runId, question, askedAt, until }) => ({
      ...nameOf(issue),
      id,
      run_id: runId,
      kind: question.kind,
      text: question.text,
      asked_at: timeText(askedAt),
      waits_until: timeText(until),
    })),
    reviews: reviews(model).map(({ issue_id, issue_identifier, title, pull = null, reason, since }) => ({
      issue_id,
      issue_identifier,
      pull,
      title,
      reason,
      since,
    })),
    accounts: model.accounts.map((account) => ({ ...accountRow(account), reason: account.parked?.reason ?? null })),
    skipped: model.skipped.map(({ issue, reason }) => ({
      ...nameOf(issue),
      ...phaseOf(issue.id),
      title: issue.title,
      state: issue.state,
      code: reason.code,
      reason: reason.text,
    })),
    completed: model.completed.map(({ issue, state, at }) => ({ ...nameOf(issue), state, at: timeText(at) })),
    totals: {
      runs: totals.runs,
      runs_by_end: { ...totals.runsByEnd },
      ...tokensOf(totals),
    },
    polling: {
      mode: polling.mode,
      interval_ms: polling.intervalMs,
      last_activity_at: timeText(polling.lastActivityAt),
      quiet_until: timeText(polling.quietUntil),
      failures: polling.failures,
      pressure: presentPressure(polling.pressure),
      next_poll_at: timeText(model.jobs.find(({ name }) => name === 'tracker_poll')?.nextDueAt ?? null),
      poll_check_in_progress: polling.pollCheckInProgress,
      ticks: polling.ticks,
    },
    jobs: model.jobs.map(presentJob),
    findings: model.findings.slice(0, mostFindings).map(presentFinding),
    workflow_problem: model.workflowProblem === null ? null : problemOf(model.workflowProblem),
    workflow_waiting: presentWaiting(model.workflowWaiting),
    no_headroom: model.noHeadroom,
    environment: model.environment,
    errors: model.errors.map(({ step, error }) => ({ step, error: problemOf(error) })),
  };
}

function presentWaiting(waiting: ReadModel['workflowWaiting']): Status['workflow_waiting'] {
  if (waiting === null) return null;
  const { revision, since, settings } = waiting;
  return { revision, since: timeText(since), settings: settings.map((setting) => ({ ...setting })) };
}

export function presentFinding({ code, issueId, identifier, text, since }: ReadModel['findings'][number]): Finding {
  return { code, issue_id: issueId, issue_identifier: identifier, text, since: timeText(since) };
}

export function presentPressure({
  step,
  spacingMs,
  until,
  text,
}: ReadModel['polling']['pressure']): Status['polling']['pressure'] {
  return { step, spacing_ms: spacingMs, until: timeText(until), text };
}

function presentRetry({
  issue,
  kind,
  attempt,
  dueAt,
  error,
  waitReason,
  waitCode,
}: RetryingView): Status['retrying'][number] {
  return {
    ...nameOf(issue),
    issue_url: issue.url ?? null,
    kind,
    attempt,
    due_at: timeText(dueAt),
    error,
    wait_reason: waitReason,
    wait_code: waitCode,
  };
}

function problemOf({ code, message, nextStep, details }: BatonError): NonNullable<Status['workflow_problem']> {
  return { code, message, next_step: nextStep, details };
}
