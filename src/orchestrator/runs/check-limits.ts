import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import { type IssueSpent, isDayLimit, limitHold, limitsInFlight, limitsOfDay } from '../../core/run/limits.ts';
import { budgetOf, isMoneyUsed } from '../../core/run/role-budget.ts';
import type { StopReason } from '../../core/run/run.ts';
import type { Running } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import { ownTimeMs } from './run-state.ts';
import type { Spending } from './spending.ts';

export interface LimitParts extends Pick<BaseParts, 'clock' | 'logger' | 'own' | 'source'> {
  readonly claims: Claims;
  readonly spending: Spending;
  readonly stopRun: (running: Running, reason: StopReason) => void;
}

/**
 * Checks what a run in progress has spent. It warns once from four fifths of a limit on. At a limit of its issue it
 * stops the run and holds the issue. At a limit of the day it interrupts every run; they continue when there is a new
 * allowance. When the runs of its role have used up the money of their budget, they are interrupted too.
 */
export function checkLimits(parts: LimitParts, running: Running): void {
  if (running.before === null || running.stopRequested !== null) return;
  const { claims, source, logger, clock, stopRun } = parts;
  const { settings } = source.read().workflow;
  const { limits } = settings;
  const budget = budgetOf(running.role, settings);
  if (budget !== null && isMoneyUsed(parts.spending.roles.of(running.role), budget)) {
    logger.error('role_budget_reached', { role: running.role, limit: `${running.role}.usd_per_day` });
    for (const each of claims.running.values()) if (each.role === running.role) stopRun(each, 'role_budget_reached');
    return;
  }
  const findings = limitsInFlight(spentBy(parts, running, running.before.spent), limits);
  const { issue, runId } = running;
  const named = { issue_id: issue.id, issue_identifier: issue.identifier, run_id: runId };
  for (const { limit, level, text } of findings) {
    if (running.warnings.some((known) => known.limit === limit && known.level === level)) continue;
    logger.warn(level === 'warning' ? 'limit_near' : 'limit_reached', {
      ...named,
      limit: `limits.${limit}`,
      why: text,
    });
  }
  running.warnings = findings;
  const reached = findings.find(({ level }) => level === 'reached');
  if (reached === undefined) return;
  if (isDayLimit(reached)) {
    logger.error('day_limit_reached', { why: reached.text });
    for (const each of claims.running.values()) stopRun(each, 'day_limit_reached');
    return;
  }
  const hold = { ...limitHold(reached, issue.identifier), issue, since: clock.now(), runId };
  parts.own('hold', claims.hold(hold));
  stopRun(running, 'limit_reached');
}

/** Why nothing starts for the rest of the day; null while there is an allowance. */
export function whyDayLimit({ source, spending }: Pick<LimitParts, 'source' | 'spending'>): SkipReason | null {
  const { limits } = source.read().workflow.settings;
  const reached = limitsOfDay(spending.today(), limits).find(({ level }) => level === 'reached');
  return reached === undefined ? null : { code: 'day_limit', text: limitHold(reached, '').reason };
}

function spentBy(
  { clock, spending }: LimitParts,
  running: Running,
  before: IssueSpent,
): Parameters<typeof limitsInFlight>[0] {
  const runWallMs = ownTimeMs(running, clock);
  return {
    issue: {
      runs: before.runs + 1,
      tokens: before.tokens + running.usage.totalTokens,
      wallMs: before.wallMs + runWallMs,
      microUsd: before.microUsd + running.usage.costMicroUsd,
    },
    runWallMs,
    day: spending.today(),
  };
}
