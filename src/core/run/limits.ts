/**
 * The limits on what is spent. What must hold: what is spent never falls, so neither does a finding's level; a limit of
 * 0 finds nothing; at the limit is reached, and from four fifths of it on there is a warning. Findings come in the order
 * run, issue, day, so that the first that is reached is the narrowest.
 */

import { retryCommand } from '../command/retry-command.ts';
import type { LimitSettings, Settings } from '../settings.ts';
import { countText, durationText, usdText } from '../text/amount-text.ts';

/** What an issue has spent since a person last let it go on, its run in flight included. */
export interface IssueSpent {
  readonly runs: number;
  readonly tokens: number;
  readonly wallMs: number;
  readonly microUsd: number;
}

/** What all runs of the UTC day have spent, those in flight included. */
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
  spent: { readonly issue: IssueSpent; readonly runWallMs: number; readonly day: DaySpent },
  limits: LimitSettings,
): readonly LimitFinding[] {
  return [
    ...found(runWall(spent.runWallMs, limits)),
    ...found(issueRuns(spent.issue, limits)).map((finding): LimitFinding => ({ ...finding, level: 'warning' })),
    ...issueSpending(spent.issue, limits),
    ...limitsOfDay(spent.day, limits),
  ];
}

/** Before a start. The run to be started is not among `issue.runs`. */
export function limitsBeforeStart(
  spent: { readonly issue: IssueSpent; readonly day: DaySpent },
  limits: LimitSettings,
): readonly LimitFinding[] {
  return [
    ...found(issueRuns(spent.issue, limits)),
    ...issueSpending(spent.issue, limits),
    ...limitsOfDay(spent.day, limits),
  ];
}

export function limitsOfDay(day: DaySpent, limits: LimitSettings): readonly LimitFinding[] {
  return [
    ...found({
      limit: 'tokens_per_day',
      used: day.tokens,
      allowed: limits.tokensPerDay,
      say: (used, allowed) => `the runs of today have used ${countText(used)} of ${countText(allowed)} tokens`,
    }),
    ...found({
      limit: 'usd_per_day',
      used: usdOf(day.microUsd),
      allowed: limits.usdPerDay,
      say: (used, allowed) => `the runs of today have cost ${usdText(used)} of ${usdText(allowed)}`,
    }),
  ];
}

/** Whether a finding is about all runs of a day and not about one issue. */
export function isDayLimit({ limit }: LimitFinding): boolean {
  return limit === 'tokens_per_day' || limit === 'usd_per_day';
}

/** Why work stops at a limit that is reached, ending with the one command that gives a new allowance. */
export function limitHold(
  finding: LimitFinding,
  identifier: string,
): { readonly code: 'limit_reached'; readonly reason: string } {
  const reason = isDayLimit(finding)
    ? `The limit of the day is reached: ${finding.text}. Work goes on at 00:00 UTC, or with another allowance by: baton resume`
    : `A limit is reached: ${finding.text}. To go on with a new allowance: ${retryCommand(identifier)}`;
  return { code: 'limit_reached', reason };
}

/** The limits that hold unless a file switches them off, and that this one did. Whoever starts Baton is to hear of it. */
export function limitsSwitchedOff({ limits, agent }: Settings): readonly string[] {
  const onByDefault = {
    'limits.runs_per_issue': limits.runsPerIssue,
    'limits.tokens_per_issue': limits.tokensPerIssue,
    'limits.run_wall_time_ms': limits.runWallTimeMs,
    'limits.issue_wall_time_ms': limits.issueWallTimeMs,
    'limits.tokens_per_day': limits.tokensPerDay,
    'agent.max_retries': agent.maxRetries,
    'agent.max_stale_runs': agent.maxStaleRuns,
  };
  return Object.entries(onByDefault).flatMap(([key, allowed]) => (allowed === 0 ? [key] : []));
}

interface Measure {
  readonly limit: LimitFinding['limit'];
  readonly used: number;
  readonly allowed: number;
  readonly say: (used: number, allowed: number) => string;
}

const runWall = (wallMs: number, { runWallTimeMs }: LimitSettings): Measure => ({
  limit: 'run_wall_time_ms',
  used: wallMs,
  allowed: runWallTimeMs,
  say: (used, allowed) => `its run has taken ${durationText(used)} of ${durationText(allowed)}`,
});

const issueRuns = ({ runs }: IssueSpent, { runsPerIssue }: LimitSettings): Measure => ({
  limit: 'runs_per_issue',
  used: runs,
  allowed: runsPerIssue,
  say: (used, allowed) => `it has had ${countText(used)} of ${countText(allowed)} runs`,
});

function issueSpending(issue: IssueSpent, limits: LimitSettings): readonly LimitFinding[] {
  return [
    ...found({
      limit: 'tokens_per_issue',
      used: issue.tokens,
      allowed: limits.tokensPerIssue,
      say: (used, allowed) => `it has used ${countText(used)} of ${countText(allowed)} tokens`,
    }),
    ...found({
      limit: 'issue_wall_time_ms',
      used: issue.wallMs,
      allowed: limits.issueWallTimeMs,
      say: (used, allowed) => `its runs have taken ${durationText(used)} of ${durationText(allowed)}`,
    }),
    ...found({
      limit: 'usd_per_issue',
      used: usdOf(issue.microUsd),
      allowed: limits.usdPerIssue,
      say: (used, allowed) => `it has cost ${usdText(used)} of ${usdText(allowed)}`,
    }),
  ];
}

/** At most one finding, from four fifths of the limit on. Products of whole numbers are exact, a part of one is not. */
function found({ limit, used, allowed, say }: Measure): readonly LimitFinding[] {
  if (allowed <= 0 || used * 5 < allowed * 4) return [];
  const level = used >= allowed ? 'reached' : 'warning';
  return [{ limit, level, used, allowed, text: `${say(used, allowed)} (limits.${limit})` }];
}

function usdOf(microUsd: number): number {
  return microUsd / 1_000_000;
}
