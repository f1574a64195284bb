import { utcDay } from '../../../../src/core/cadence/utc-day.ts';
import { largestSkewMs } from '../../keeper.ts';
import type { World } from '../../world.ts';
import { knowledgeLagMs } from '../knowledge-lag.ts';
import type { Rule } from '../rule.ts';

const dayMs = 24 * 3_600_000;

/**
 * The runs of a role that start on a UTC day are never more than its `runs_per_day`, over all daemons and restarts, and none
 * starts after others have used up its `usd_per_day`.
 */
export function roleBudgets(world: World): Rule {
  const started = new Map<string, number>();
  return {
    runStarted: ({ role, issueId, runId }) => {
      const at = world.clock.now();
      const most = runsPerDay(world, role);
      // Around midnight the daemons do not agree about the day, and a clock that was set may have begun another one.
      const intoDayMs = at % dayMs;
      const isMidnight = intoDayMs <= largestSkewMs || intoDayMs >= dayMs - largestSkewMs;
      if (isMidnight || Number.isFinite(world.wallJumpedAt)) return;
      if (isMoneyUsed(world, role, at - knowledgeLagMs(world)))
        world.broke('role_budgets', issueId, `run ${runId} starts when the money of "${role}" is used up`);
      if (most === 0) return;
      const key = `${role} ${utcDay(at)}`;
      const count = (started.get(key) ?? 0) + 1;
      started.set(key, count);
      if (count > most)
        world.broke(
          'role_budgets',
          issueId,
          `run ${runId} is number ${count} of ${most} of "${role}" on ${utcDay(at)}`,
        );
    },
  };
}

/** 0: no limit. */
export function runsPerDay({ plan: { settings } }: World, role: string): number {
  if (role === 'planner') return settings.planner.runsPerDay;
  if (role === 'intake') return settings.intake.runsPerDay;
  return role === 'scanner' ? settings.scanner.runsPerDay : 0;
}

interface EndedRow {
  readonly ended_at: number;
  readonly outcome: string;
  readonly tokens: number;
  readonly cost: number;
}

/** Whether the runs of a role that ended on this day, up to a moment, used up its money. One without a price does so too. */
export function isMoneyUsed(world: World, role: string, upTo = Number.POSITIVE_INFINITY): boolean {
  const { clock, memory, plan, tasks } = world;
  const limit = role === 'intake' || role === 'scanner' ? plan.settings[role].usdPerDay : 0;
  if (tasks === null || limit === 0) return false;
  const runs = memory
    .look<EndedRow>(ended, role)
    .filter(({ ended_at }) => utcDay(ended_at) === utcDay(clock.now()) && ended_at <= upTo);
  const isUnpriced = runs.some(({ cost, outcome, tokens }) => cost === 0 && (tokens > 0 || outcome === 'succeeded'));
  return isUnpriced || runs.reduce((sum, { cost }) => sum + cost, 0) >= limit * 1_000_000;
}

const ended = `select ended_at, outcome, total_tokens as tokens, cost_micro_usd as cost from runs
  where role = ? and ended_at is not null`;
