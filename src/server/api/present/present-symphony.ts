import type { SymphonyIssue, SymphonyState } from '../../../client/schema/symphony.ts';
import { isAboutSlots } from '../../../core/dispatch/eligibility.ts';
import { timeText } from '../../../core/text/time-text.ts';
import type { Hold } from '../../../orchestrator/claims/claim.ts';
import type { ReadModel, RetryingView, RunningView } from '../../../orchestrator/view/read-model.ts';

/** Facts of the last run of each waiting issue, by issue id. */
export type LastRuns = ReadonlyMap<string, LastRun>;

export interface LastRun {
  readonly workspace: string | null;
  readonly threadId: string | null;
  readonly turn: number;
  /** What its agent said last. */
  readonly lastEvent: LastEvent | null;
}

export interface LastEvent {
  readonly at: number;
  readonly name: string;
  readonly summary: string;
}

/** The read model of a project, with the last runs of its waiting issues. */
export interface SymphonyFacts extends ReadModel {
  readonly project: string;
  readonly lastRuns: LastRuns;
}

/** The read models of all projects in the format of Symphony's API. */
export function presentState(models: readonly SymphonyFacts[], at: number): SymphonyState {
  const running = models.flatMap((model) => model.running.map(presentRunning));
  const retrying = models.flatMap((model) => retriesOf(model).map((retry) => presentRetrying(model, retry)));
  const blocked = models.flatMap((model) => model.held.map((entry) => presentBlocked(model, entry)));
  return {
    generated_at: timeText(at),
    counts: { running: running.length, retrying: retrying.length, blocked: blocked.length },
    running,
    retrying,
    blocked,
    codex_totals: totalsOf(models, at),
    rate_limits: rateLimits(models),
    polling: models.map(({ project, polling, jobs }) => ({
      project,
      mode: polling.mode,
      interval_ms: polling.intervalMs,
      next_poll_at: timeText(jobs.find(({ name }) => name === 'tracker_poll')?.nextDueAt ?? null),
      poll_check_in_progress: polling.pollCheckInProgress,
      last_activity_at: timeText(polling.lastActivityAt),
    })),
  };
}

/** One issue; null when it is neither running nor retrying nor held. */
export function presentIssue(model: SymphonyFacts, identifier: string): SymphonyIssue | null {
  const isIt = ({ issue }: { readonly issue: { readonly identifier: string } }): boolean =>
    issue.identifier.toLowerCase() === identifier.toLowerCase();
  const running = model.running.find(isIt);
  const retry = retriesOf(model).find(isIt);
  const held = model.held.find(isIt);
  const found = running ?? retry ?? held;
  if (found === undefined) return null;
  const presented = {
    running: running === undefined ? null : withoutName(presentRunning(running)),
    retry: retry === undefined ? null : withoutName(presentRetrying(model, retry)),
    blocked: held === undefined ? null : withoutName(presentBlocked(model, held)),
  };
  const attempt = retry?.attempt ?? running?.attempt ?? 0;
  const before = model.lastRuns.get(found.issue.id);
  const last = (running ?? before)?.lastEvent ?? null;
  return {
    issue_identifier: found.issue.identifier,
    issue_id: found.issue.id,
    status: running !== undefined ? 'running' : retry !== undefined ? 'retrying' : 'blocked',
    workspace: { path: (running ?? before)?.workspace ?? null, host: null },
    attempts: { restart_count: Math.max(attempt - 1, 0), current_retry_attempt: attempt },
    ...presented,
    logs: { codex_session_logs: [] },
    recent_events: last === null ? [] : [{ at: timeText(last.at), event: last.name, message: last.summary }],
    last_error: retry?.error ?? held?.reason ?? null,
    tracked: {},
  };
}

function presentRunning({ issue, ...run }: RunningView): SymphonyState['running'][number] {
  return {
    ...nameOf(issue),
    issue_url: issue.url,
    state: issue.state,
    worker_host: null,
    workspace_path: run.workspace,
    session_id: sessionOf(run),
    turn_count: run.turn,
    ...lastEvent(run.lastEvent),
    started_at: timeText(run.startedAt),
    tokens: tokensOf(run.usage),
  };
}

function presentRetrying(
  { lastRuns }: SymphonyFacts,
  { issue, attempt, dueAt, error, waitReason, waitCode }: RetryingView,
): SymphonyState['retrying'][number] {
  return {
    ...nameOf(issue),
    issue_url: issue.url ?? null,
    attempt,
    due_at: timeText(dueAt),
    // In the words of Symphony's specification.
    error:
      error ??
      (waitCode !== null && isAboutSlots({ code: waitCode, text: '' })
        ? 'no available orchestrator slots'
        : waitReason),
    worker_host: null,
    workspace_path: lastRuns.get(issue.id)?.workspace ?? null,
  };
}

function presentBlocked(
  { candidates, lastRuns }: SymphonyFacts,
  { issue, reason, since }: Hold,
): SymphonyState['blocked'][number] {
  const last = lastRuns.get(issue.id);
  return {
    ...nameOf(issue),
    issue_url: issue.url ?? null,
    state: candidates.find(({ id }) => id === issue.id)?.state ?? null,
    error: reason,
    worker_host: null,
    workspace_path: last?.workspace ?? null,
    session_id: last === undefined ? null : sessionOf(last),
    blocked_at: timeText(since),
    ...lastEvent(last?.lastEvent ?? null),
  };
}

/** A session of Symphony is one turn: `<thread>-<turn>`; null before the first turn. */
function sessionOf({ threadId, turn }: Pick<LastRun, 'threadId' | 'turn'>): string | null {
  return threadId === null || turn === 0 ? null : `${threadId}-${turn}`;
}

/** Issues that wait for a quota count as retrying. */
export function retriesOf({
  retrying,
  waitingQuota,
}: Pick<ReadModel, 'retrying' | 'waitingQuota'>): readonly RetryingView[] {
  return [...retrying, ...waitingQuota];
}

function totalsOf(models: readonly ReadModel[], at: number): SymphonyState['codex_totals'] {
  const sum = (of: (model: ReadModel) => number): number => models.reduce((total, model) => total + of(model), 0);
  const inFlightMs = ({ running }: ReadModel): number =>
    running.reduce((total, { startedAt }) => total + Math.max(0, at - startedAt), 0);
  return {
    input_tokens: sum(({ totals }) => totals.inputTokens),
    output_tokens: sum(({ totals }) => totals.outputTokens),
    total_tokens: sum(({ totals }) => totals.totalTokens),
    seconds_running: Math.floor((sum(({ totals }) => totals.runMs) + sum(inFlightMs)) / 1_000),
  };
}

/** The last known limits by account, after the latest report of an agent in its own words. */
function rateLimits(models: readonly ReadModel[]): SymphonyState['rate_limits'] {
  const accounts = models.flatMap((model) => model.accounts);
  const reports = accounts.flatMap(({ reported }) => reported ?? []);
  const latest = reports.toSorted((a, b) => b.at - a.at)[0]?.limits;
  const known = accounts.filter(({ windows }) => windows.length > 0);
  if (known.length === 0 && latest === undefined) return null;
  const byAccount = Object.fromEntries(
    known.map(({ backend, name, windows }) => [
      `${backend}/${name}`,
      Object.fromEntries(
        windows.map((window) => [
          window.name,
          {
            used_percent: window.usedPercent,
            window_minutes: window.windowMinutes,
            resets_at: timeText(window.resetsAt),
          },
        ]),
      ),
    ]),
  );
  return { ...latest, ...byAccount };
}

export function nameOf({ id, identifier }: { readonly id: string; readonly identifier: string }) {
  return { issue_id: id, issue_identifier: identifier };
}

function lastEvent(event: LastEvent | null) {
  return {
    last_event: event?.name ?? null,
    last_message: event?.summary ?? null,
    last_event_at: timeText(event?.at ?? null),
  };
}

export function tokensOf(usage: Readonly<Record<'inputTokens' | 'outputTokens' | 'totalTokens', number>>) {
  return { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens, total_tokens: usage.totalTokens };
}

function withoutName<T extends { issue_id: string; issue_identifier: string; issue_url: string | null }>(
  row: T,
): Omit<T, 'issue_id' | 'issue_identifier' | 'issue_url'> {
  const { issue_id: _id, issue_identifier: _identifier, issue_url: _url, ...rest } = row;
  return rest;
}
