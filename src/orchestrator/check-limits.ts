import type { SkipReason } from '../core/eligibility.ts';
import { isDayLimit, limitHold, limitsInFlight, limitsOfDay } from '../core/limits.ts';
import type { OrchestratorContext } from './context.ts';
import { holdAfterRun } from './hold-issue.ts';
import { ownTimeMs } from './person-time.ts';
import type { RunningEntry } from './scheduling-state.ts';
import { stopRun } from './stop-run.ts';
import { spentToday } from './today.ts';

/**
 * Looks what a run in flight has spent. From four fifths of a limit on it warns, once; at a limit of its issue the run is
 * stopped and the issue held; at a limit of the day every run is interrupted, and goes on when there is a new allowance.
 */
export function checkLimits(context: OrchestratorContext, entry: RunningEntry): void {
  if (entry.before === null || entry.stopRequested !== null) return;
  const { state, source, logger } = context;
  const { limits } = source.read().workflow.settings;
  const findings = limitsInFlight(spentBy(context, entry, entry.before.spent), limits);
  const { id, identifier } = entry.issue;
  const named = { issue_id: id, issue_identifier: identifier, run_id: entry.runId };
  for (const { limit, level, text } of findings) {
    if (entry.warnings.some((known) => known.limit === limit && known.level === level)) continue;
    logger.warn(level === 'warning' ? 'limit_near' : 'limit_reached', {
      ...named,
      limit: `limits.${limit}`,
      why: text,
    });
  }
  entry.warnings = findings;
  const reached = findings.find(({ level }) => level === 'reached');
  if (reached === undefined) return;
  if (isDayLimit(reached)) {
    logger.error('day_limit_reached', { why: reached.text });
    for (const running of state.running.values()) stopRun(context, running, 'day_limit_reached');
    return;
  }
  context.own('hold', holdAfterRun(context, entry, limitHold(reached, identifier)));
  stopRun(context, entry, 'limit_reached');
}

/** Why nothing starts for the rest of the day; null while there is an allowance. */
export function whyDayIsOver(context: OrchestratorContext): SkipReason | null {
  const { limits } = context.source.read().workflow.settings;
  const reached = limitsOfDay(spentToday(context), limits).find(({ level }) => level === 'reached');
  return reached === undefined ? null : { code: 'day_limit', text: limitHold(reached, '').reason };
}

function spentBy(
  context: OrchestratorContext,
  entry: RunningEntry,
  before: { runs: number; tokens: number; wallMs: number; microUsd: number },
): Parameters<typeof limitsInFlight>[0] {
  const runWallMs = ownTimeMs(entry, context.clock);
  return {
    issue: {
      runs: before.runs + 1,
      tokens: before.tokens + entry.usage.totalTokens,
      wallMs: before.wallMs + runWallMs,
      microUsd: before.microUsd + entry.usage.costMicroUsd,
    },
    runWallMs,
    day: spentToday(context),
  };
}
