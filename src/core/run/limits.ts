/**
 * The limits on spending. What must hold: spending never falls, so a finding's level never falls either; a limit of 0
 * finds nothing; a limit is reached at its exact value, with a warning from four fifths of it on. Findings come in the
 * order run, issue, day, so that the first reached one is the narrowest.
 */

import type { UsageReports } from '../backend-profile.ts';
import { retryCommand } from '../command/retry-command.ts';
import type { LimitSettings, Settings } from '../settings.ts';
import { countText, durationText, usdText } from '../text/amount-text.ts';

/** What an issue has spent since a person last let it continue, its current run included. */
export interface IssueSpent {
  readonly runs: number;
  readonly tokens: number;
  readonly wallMs: number;
  readonly microUsd: number;
}

/** The spending of all runs of the UTC day, those in flight included. */
export interface DaySpent {
  readonly tokens: number;
  readonly microUsd: number;
}

/** A limit that is near or reached. Amounts are in the unit of the setting. */
export interface LimitFinding {
  readonly limit:
    | 'runs_per_issue'
    | 'tokens_per_issue'
    | 'run_wall_time_ms'
    | 'issue_wall_time_ms'
    | 'usd_per_issue'
    | 'tokens_per_day'
    | 'usd_per_day';
  readonly level: 'warning' | 'reached';
  readonly used: number;
  readonly allowed: number;
  /** `it has used 16,400,000 of 20,000,000 tokens (limits.tokens_per_issue)`. */
  readonly text: string;
}

/** For a run in flight. The last run that an issue may have is let finish: it is the next start that is refused. */
export function limitsInFlight(
  { issue, runWallMs, day }: { readonly issue: IssueSpent; readonly runWallMs: number; readonly day: DaySpent },
  limits: LimitSettings,
): readonly LimitFinding[] {
  return [
    ...found('run_wall_time_ms', runWallMs, limits.runWallTimeMs, durationText, 'its run has taken', ''),
    ...issueRuns(issue, limits).map((finding): LimitFinding => ({ ...finding, level: 'warning' })),
    ...issueSpending(issue, limits),
    ...limitsOfDay(day, limits),
  ];
}

/** Before a start. The run to be started is not among `issue.runs`. */
export function limitsBeforeStart(
  { issue, day }: { readonly issue: IssueSpent; readonly day: DaySpent },
  limits: LimitSettings,
): readonly LimitFinding[] {
  return [...issueRuns(issue, limits), ...issueSpending(issue, limits), ...limitsOfDay(day, limits)];
}

export function limitsOfDay({ tokens, microUsd }: DaySpent, limits: LimitSettings): readonly LimitFinding[] {
  return [
    ...found('tokens_per_day', tokens, limits.tokensPerDay, countText, 'the runs of today have used', ' tokens'),
    ...found('usd_per_day', usdOf(microUsd), limits.usdPerDay, usdText, 'the runs of today have cost', ''),
  ];
}

/** Whether a finding is about all runs of a day and not about one issue. */
export function isDayLimit({ limit }: LimitFinding): boolean {
  return limit === 'tokens_per_day' || limit === 'usd_per_day';
}

/** Why work stops at a reached limit: the setting that raises a limit of the day, and the command that grants a new allowance. */
export function limitHold(
  finding: LimitFinding,
  identifier: string,
): { readonly code: 'limit_reached'; readonly reason: string } {
  const reason = isDayLimit(finding)
    ? `The limit of the day is reached: ${finding.text}. Work continues at 00:00 UTC. To allow more for good: raise limits.${finding.limit} in the workflow file. To continue now with another allowance: baton resume`
    : `A limit is reached: ${finding.text}. To continue with a new allowance: ${retryCommand(identifier)}`;
  return { code: 'limit_reached', reason };
}

/** The limits that are on by default and that this file switches off. Baton reports them to the user at start. */
export function limitsSwitchedOff({ limits, agent }: Settings): readonly string[] {
  const onByDefault = {
    'limits.runs_per_issue': limits.runsPerIssue,
    'limits.tokens_per_issue': limits.tokensPerIssue,
    'limits.run_wall_time_ms': limits.runWallTimeMs,
    'limits.issue_wall_time_ms': limits.issueWallTimeMs,
    'limits.tokens_per_day': limits.tokensPerDay,
    'limits.usd_per_day': limits.usdPerDay,
    'agent.max_retries': agent.maxRetries,
    'agent.max_stale_runs': agent.maxStaleRuns,
  };
  return Object.entries(onByDefault).flatMap(([key, allowed]) => (allowed === 0 ? [key] : []));
}

/**
 * The settings that bound the bill of a day, as `limits.usd_per_day: $100.00`: money where a price is known, tokens where
 * they are counted, otherwise runs and time. Runs and time come first where a program may report nothing. Of several
 * agents the least known counts. Empty when nothing bounds it.
 */
export function boundsOfBill(settings: Settings, reportsOf: (backend: string) => UsageReports): readonly string[] {
  const { limits } = settings;
  const agents = [settings, ...Object.values(settings.agents).map((each) => each.settings)].map(({ agent }) => agent);
  const isUntold = agents.some(({ backend }) => reportsOf(backend) === 'if_told');
  const isPriced = agents.every(
    ({ backend, prices }) => reportsOf(backend) !== 'tokens' || Object.keys(prices).length > 0,
  );
  const spending = [
    ...bound('usd_per_day', isPriced ? limits.usdPerDay : 0, usdText),
    ...bound('tokens_per_day', limits.tokensPerDay, countText),
  ];
  const work = [
    ...bound('runs_per_issue', limits.runsPerIssue, countText),
    ...bound('run_wall_time_ms', limits.runWallTimeMs, durationText),
  ];
  if (isUntold) return [...work, ...spending.map((each) => `${each}, of what the agent reports`)];
  return spending.length > 0 ? spending : work;
}

function bound(limit: LimitFinding['limit'], allowed: number, amount: (value: number) => string): readonly string[] {
  return allowed <= 0 ? [] : [`limits.${limit}: ${amount(allowed)}`];
}

function issueRuns({ runs }: IssueSpent, { runsPerIssue }: LimitSettings): readonly LimitFinding[] {
  return found('runs_per_issue', runs, runsPerIssue, countText, 'it has had', ' runs');
}

function issueSpending({ tokens, wallMs, microUsd }: IssueSpent, limits: LimitSettings): readonly LimitFinding[] {
  return [
    ...found('tokens_per_issue', tokens, limits.tokensPerIssue, countText, 'it has used', ' tokens'),
    ...found('issue_wall_time_ms', wallMs, limits.issueWallTimeMs, durationText, 'its runs have taken', ''),
    ...found('usd_per_issue', usdOf(microUsd), limits.usdPerIssue, usdText, 'it has cost', ''),
  ];
}

/** At most one finding, from four fifths of the limit on. Products of whole numbers are exact, a part of one is not. */
function found(
  limit: LimitFinding['limit'],
  used: number,
  allowed: number,
  amount: (value: number) => string,
  what: string,
  unit: string,
): readonly LimitFinding[] {
  if (allowed <= 0 || used * 5 < allowed * 4) return [];
  const level = used >= allowed ? 'reached' : 'warning';
  const text = `${what} ${amount(used)} of ${amount(allowed)}${unit} (limits.${limit})`;
  return [{ limit, level, used, allowed, text }];
}

function usdOf(microUsd: number): number {
  return microUsd / 1_000_000;
}
