import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import { isMeantBy } from '../../core/issue/issue.ts';
import type { AgentWish } from '../../core/run/choose-agent.ts';
import type { Role } from '../../core/run/role.ts';
import type { IssueName } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { Pause } from '../commands/pause.ts';
import type { Trial } from '../parts.ts';
import { type TrackerNowParts, whyNoRequests } from '../poll/pace.ts';
import type { Accounts } from '../runs/accounts.ts';
import { whyDayLimit } from '../runs/check-limits.ts';
import type { RunTotals } from '../runs/run-totals.ts';
import type { Spending } from '../runs/spending.ts';
import { whyNoAgent, whyNoAgentAtAll } from './agent-of.ts';
import type { EnvironmentWatch } from './environment.ts';
import type { HeadroomWatch } from './headroom.ts';

export interface StartParts extends TrackerNowParts {
  readonly claims: Claims;
  readonly pause: Pause;
  readonly spending: Spending;
  readonly headroom: HeadroomWatch;
  readonly environment: EnvironmentWatch;
  readonly accounts: Accounts;
  readonly totals: RunTotals;
  readonly trial: Trial | null;
}

/**
 * Why nothing new may start on this issue, whatever its own state: a pause, the day's limit, the budget of its role, too little disk or memory,
 * an environment in which no run can begin, too few requests, no account with quota, the bounds of a trial. Retries use this too, so backpressure does not belong
 * here: it refuses new claims, and claimed issues continue. Without a wish, the reasons that hold for every agent.
 */
export function whyNothingStarts(
  parts: StartParts,
  issue: IssueName,
  role: Role,
  wish: AgentWish | null,
): SkipReason | null {
  const { pause, headroom, environment, accounts, source, claims } = parts;
  const { settings } = source.read().workflow;
  const inFlight = startsInFlight(claims);
  return (
    pause.whyPaused() ??
    whyDayLimit(parts) ??
    parts.spending.roles.whyNone(role) ??
    headroom.whyNone() ??
    environment.whyNone() ??
    whyNoRequests(parts) ??
    (wish === null ? whyNoAgentAtAll(accounts, settings, inFlight) : whyNoAgent(accounts, settings, wish, inFlight)) ??
    whyNotChosen(parts, issue, 0)
  );
}

/** Runs whose start is being written: their account is not known yet. */
export function startsInFlight({ running }: Claims): number {
  return [...running.values()].filter(({ account }) => account === null).length;
}

/** Why a trial excludes this issue, or has used up its runs. */
export function whyNotChosen(
  { claims, totals, trial }: Pick<StartParts, 'claims' | 'totals' | 'trial'>,
  issue: IssueName,
  startsBefore: number,
): SkipReason | null {
  if (trial === null) return null;
  if (trial.only !== null && !trial.only.some((name) => isMeantBy(issue, name))) {
    return { code: 'not_chosen', text: `--only names other issues: ${trial.only.join(', ')}` };
  }
  if (trial.maxRuns === null) return null;
  const beginning = [...claims.running.values()].filter(({ before }) => before === null).length;
  if (totals.runs + beginning + startsBefore < trial.maxRuns) return null;
  return {
    code: 'not_chosen',
    text: `--max-runs ${trial.maxRuns} is used up; for more runs, stop Baton and start it without --max-runs`,
  };
}
