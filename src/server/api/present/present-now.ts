import type { AccountRow, FinishedRow, Now, RunningRow, Vitals, WaitingRow } from '../../../client/schema/now.ts';
import { nextUtcMidnight, utcDay } from '../../../core/cadence/utc-day.ts';
import type { Issue } from '../../../core/issue/issue.ts';
import type { RoleBudgetView } from '../../../core/run/role-budget.ts';
import { timeText } from '../../../core/text/time-text.ts';
import type { ReadModel, RunningView } from '../../../orchestrator/view/read-model.ts';
import { needsYou, problemsOf } from './needs-you.ts';
import { rowName, wholePriority } from './present-issue.ts';
import { phasesOfRows } from './present-pipeline.ts';
import { presentUsage } from './present-usage.ts';

/** The current state of a project. Pure, and cheap enough to be built several times a second. */
export function presentNow(project: string, model: ReadModel): Now {
  const known = new Map([...model.candidates, ...model.reviews].map((issue) => [issue.id, issue]));
  return {
    project,
    generated_at: timeText(model.at),
    vitals: vitalsOf(model),
    needs_you: needsYou(model, known),
    running: runningRows(model),
    waiting: waitingRows(model, known),
    // The UTC day, as for all sums and limits.
    finished: finishedSince(model, Date.parse(utcDay(model.at)), known),
    accounts: model.accounts.map(accountRow),
  };
}

export function runningRows(model: ReadModel): RunningRow[] {
  const phaseOf = phasesOfRows(model);
  return model.running.map((run) => ({ ...runningRow(run), ...phaseOf(run.issue.id) }));
}

function runningRow({ issue, usage, warnings, ...run }: RunningView): RunningRow {
  return {
    key: run.runId,
    issue_id: issue.id,
    issue_identifier: issue.identifier,
    title: issue.title,
    issue_url: issue.url,
    state: issue.state,
    run_id: run.runId,
    role: run.role,
    attempt: run.attempt,
    stage: run.stage,
    turn: run.turn,
    session_id: run.threadId,
    workspace_path: run.workspace,
    pid: run.process?.pid ?? null,
    started_at: timeText(run.startedAt),
    last_event: run.lastEvent?.name ?? null,
    last_message: run.lastEvent?.summary ?? null,
    last_event_at: timeText(run.lastEvent?.at ?? null),
    usage: presentUsage(usage),
    agent: run.agent,
    account: run.account,
    waits_for_person: run.isAsking,
    can_steer: run.canHear !== false,
    ...(run.holdAfterwards == null
      ? {}
      : { hold_afterwards: { code: run.holdAfterwards.code, text: run.holdAfterwards.reason } }),
    warnings: warnings.map(({ limit, level, text }) => ({ limit, level, text })),
  };
}

/** Why a retry waits, and why there is one: both, so that a due retry still shows what went wrong. */
export function waitWords(waitReason: string | null, error: string | null): string | null {
  return waitReason === null || error === null ? (waitReason ?? error) : `${waitReason}; the last run: ${error}`;
}

/** Issues that wait for a retry, for a quota or in the queue; claimed issues are already in another list. */
function waitingRows(model: ReadModel, known: ReadonlyMap<string, Issue>): WaitingRow[] {
  const phaseOf = phasesOfRows(model);
  const retryRows = (kind: 'retry' | 'quota', views: ReadModel['retrying']): WaitingRow[] =>
    views.map(({ issue, attempt, dueAt, error, waitReason, waitCode, ...retry }) => ({
      ...rowName(issue, known),
      ...phaseOf(issue.id),
      key: `${kind}:${issue.id}`,
      kind,
      state: known.get(issue.id)?.state ?? null,
      ...priorityOf(known.get(issue.id)),
      attempt,
      reason: waitWords(waitReason, error) ?? retryWords[retry.kind],
      code: waitCode,
      next_check_at: timeText(isUntilMidnight(waitCode) ? nextUtcMidnight(model.at) : dueAt),
    }));
  const nextPoll = timeText(model.jobs.find((job) => job.name === 'tracker_poll')?.nextDueAt ?? null);
  const queue = model.skipped
    .filter(({ reason }) => reason.code !== 'claimed')
    .map(({ issue, reason }) => ({
      ...rowName(issue, known),
      ...phaseOf(issue.id),
      key: `queue:${issue.id}`,
      kind: 'queue' as const,
      state: issue.state,
      ...priorityOf(issue),
      attempt: null,
      reason: reason.text,
      code: reason.code,
      next_check_at: isUntilMidnight(reason.code) ? timeText(nextUtcMidnight(model.at)) : nextPoll,
    }));
  return [...retryRows('retry', model.retrying), ...retryRows('quota', model.waitingQuota), ...queue];
}

function isUntilMidnight(code: string | null): boolean {
  return code === 'day_limit' || code === 'role_budget';
}

function priorityOf(issue: Issue | undefined): Pick<WaitingRow, 'priority'> {
  const priority = wholePriority(issue?.priority ?? null);
  return priority === null ? {} : { priority };
}

const retryWords: Readonly<Record<ReadModel['retrying'][number]['kind'], string>> = {
  continuation: 'its last run succeeded and the issue is still open, so the work continues',
  failure: 'its last run failed',
  interrupted: 'its last run was interrupted',
  quota: 'the quota of its account was used up',
  answered: 'a person answered',
  handed_back: 'a person handed it back',
  revision: 'its change was sent back',
  review: 'its change is being brought into review',
};

/** The issues finished at that time or later, the latest first. */
export function finishedSince(
  { completed }: ReadModel,
  since: number,
  known: ReadonlyMap<string, Issue> = new Map(),
): FinishedRow[] {
  return completed
    .filter((entry) => entry.at >= since)
    .toReversed()
    .map((entry) => ({
      ...rowName(entry.issue, known),
      key: `finished:${entry.issue.id}`,
      state: entry.state,
      at: timeText(entry.at),
    }));
}

export function accountRow({
  backend,
  name: account,
  parked,
  waitsFor,
  windows,
}: ReadModel['accounts'][number]): AccountRow {
  return {
    key: `${backend}/${account}`,
    backend,
    name: account,
    unavailable_until: timeText(parked?.until ?? null),
    unavailable_because: parked?.why ?? null,
    waits_for: waitsFor,
    windows: windows.map((window) => ({
      name: window.name,
      used_percent: window.usedPercent,
      window_minutes: window.windowMinutes,
      resets_at: timeText(window.resetsAt),
    })),
  };
}

function roleBudgetRow({ role, runs, runsPerDay, microUsd, usdPerDay, isUsedUp }: RoleBudgetView) {
  return {
    role,
    runs,
    runs_limit: runsPerDay > 0 ? runsPerDay : null,
    cost_usd: microUsd / 1_000_000,
    cost_limit_usd: usdPerDay > 0 ? usdPerDay : null,
    used_up: isUsedUp,
  };
}

function vitalsOf(model: ReadModel): Vitals {
  const { paused, today, polling } = model;
  return {
    started_at: timeText(model.startedAt),
    paused: paused === null ? null : { kind: paused.kind, since: timeText(paused.since), reason: paused.reason },
    slots: model.slots,
    today: {
      tokens: today.tokens,
      cost_usd: today.microUsd / 1_000_000,
      token_limit: today.tokenLimit > 0 ? today.tokenLimit : null,
      cost_limit_usd: today.usdLimit > 0 ? today.usdLimit : null,
      ...(today.roles.length === 0 ? {} : { roles: today.roles.map(roleBudgetRow) }),
    },
    polling: {
      mode: polling.mode,
      interval_ms: polling.intervalMs,
      next_poll_at: timeText(model.jobs.find((job) => job.name === 'tracker_poll')?.nextDueAt ?? null),
      is_polling: polling.pollCheckInProgress,
      quiet_until: timeText(polling.quietUntil),
      failures: polling.failures,
    },
    budget: { step: polling.pressure.step, text: polling.pressure.text, until: timeText(polling.pressure.until) },
    ...(model.agents.length === 0 ? {} : { agents: [...model.agents] }),
    ...(model.taskAgents === null ? {} : { task_agents: { ...model.taskAgents } }),
    ...(model.phaseNames.length === 0 ? {} : { phases: [...model.phaseNames] }),
    problems: problemsOf(model),
  };
}
