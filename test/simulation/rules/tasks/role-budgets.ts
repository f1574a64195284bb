import { utcDay } from '../../../../src/core/cadence/utc-day.ts';
import { largestSkewMs } from '../../keeper.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

const dayMs = 24 * 3_600_000;

/** The runs of a role that start on a UTC day are never more than its `runs_per_day`, over all daemons and restarts. */
export function roleBudgets(world: World): Rule {
  const started = new Map<string, number>();
  return {
    runStarted: ({ role, issueId, runId }) => {
      const at = world.clock.now();
      const most = runsPerDay(world, role);
      // Around midnight the daemons do not agree about the day, and a clock that was set may have begun another one.
      const intoDayMs = at % dayMs;
      const isMidnight = intoDayMs <= largestSkewMs || intoDayMs >= dayMs - largestSkewMs;
      if (most === 0 || isMidnight || Number.isFinite(world.wallJumpedAt)) return;
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
