import type { World } from '../world.ts';
import { knowledgeLagMs } from './knowledge-lag.ts';
import type { Rule } from './rule.ts';
import { spentToday } from './spent-today.ts';

/** Limits are looked at every 5 seconds; then an agent is ended, which takes its time, and a slow store too. */
const endingMs = 30_000;

interface Spent {
  readonly runs: number;
  readonly tokens: number;
  readonly wall_ms: number;
}

/**
 * A limit is never exceeded by more than the runs in flight: an issue that has spent what it may does not start again, no
 * agent works longer than a run may (what it waits for a person is not counted), and nothing starts long after the day's
 * allowance was used up.
 */
export function limits(world: World): Rule {
  const { memory, file } = world;
  let dayOverSince: number | null = null;
  return {
    runStarted: ({ issueId, runId }) => {
      const { runsPerIssue, tokensPerIssue, issueWallTimeMs } = file.settings.limits;
      const [spent] = memory.look<Spent>(spentByIssue, issueId);
      if (spent === undefined) return;
      // The run that just started is among them.
      if (runsPerIssue > 0 && spent.runs > runsPerIssue)
        world.broke('limits', issueId, `run ${runId} is number ${spent.runs} of ${runsPerIssue}`);
      if (tokensPerIssue > 0 && spent.tokens >= tokensPerIssue)
        world.broke('limits', issueId, `run ${runId} starts after ${spent.tokens} of ${tokensPerIssue} tokens`);
      if (issueWallTimeMs > 0 && spent.wall_ms >= issueWallTimeMs)
        world.broke('limits', issueId, `run ${runId} starts after ${spent.wall_ms} of ${issueWallTimeMs} ms`);
      // Whoever sets the clock makes it another day.
      if (dayOverSince === null || world.wallJumpedAt >= dayOverSince) return;
      if (world.now - dayOverSince > knowledgeLagMs(world) + endingMs)
        world.broke('limits', issueId, `run ${runId} starts and the day is over since ${dayOverSince} ms`);
    },
    afterStep: () => {
      longRuns(world);
      if (!world.storeHasChanged) return;
      if (!isDayOver(world)) dayOverSince = null;
      else dayOverSince ??= world.now;
    },
  };
}

function isDayOver(world: World): boolean {
  const { tokensPerDay } = world.file.settings.limits;
  if (tokensPerDay === 0 || world.now - world.wallJumpedAt < knowledgeLagMs(world)) return false;
  return spentToday(world) >= tokensPerDay;
}

/** An agent of a healthy daemon is ended when its run has taken as long as it may, beside the time of people. */
function longRuns(world: World): void {
  const { runWallTimeMs } = world.file.settings.limits;
  if (runWallTimeMs === 0) return;
  for (const { startTime, life, runId, issueId, survives } of world.processes.all()) {
    const mostMs = runWallTimeMs + endingMs + knowledgeLagMs(world) + world.questions.waitedMs(runId, world.now);
    if (survives || world.now - Math.max(startTime, world.disturbedAt) <= mostMs) continue;
    if (world.lives.get(life)?.life.isAlive === true)
      world.broke('limits', issueId, `the agent of run ${runId} works for ${world.now - startTime} ms`);
  }
}

const spentByIssue = `
  select coalesce(sum(value) filter (where name = 'runs'), 0) as runs,
    coalesce(sum(value) filter (where name = 'tokens'), 0) as tokens,
    coalesce(sum(value) filter (where name = 'wall_ms'), 0) as wall_ms
  from counters where issue_id = ?`;
