import type { World } from '../world.ts';
import { knowledgeLagMs } from './knowledge-lag.ts';
import type { Rule } from './rule.ts';
import { spentToday } from './spent-today.ts';

/** Limits are checked every 5 seconds; then ending an agent takes time, and so does a slow store. */
const endingMs = 30_000;

interface Spent {
  readonly runs: number;
  readonly tokens: number;
  readonly wall_ms: number;
}

/**
 * A limit is never exceeded by more than the runs in progress: an issue at its limit does not start again, no
 * agent works longer than a run may (waiting for a person is not counted), and nothing starts long after the day's
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
      // This includes the run that just started.
      if (runsPerIssue > 0 && spent.runs > runsPerIssue)
        world.broke('limits', issueId, `run ${runId} is number ${spent.runs} of ${runsPerIssue}`);
      if (tokensPerIssue > 0 && spent.tokens >= tokensPerIssue)
        world.broke('limits', issueId, `run ${runId} starts after ${spent.tokens} of ${tokensPerIssue} tokens`);
      if (issueWallTimeMs > 0 && spent.wall_ms >= issueWallTimeMs)
        world.broke('limits', issueId, `run ${runId} starts after ${spent.wall_ms} of ${issueWallTimeMs} ms`);
      // Setting the clock may change the day. A person may have lifted the limit since the last step.
      if (dayOverSince === null || world.wallJumpedAt >= dayOverSince || !isDayOver(world)) return;
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

/** An agent of a healthy daemon is ended when its run reaches its time limit; the time of people is not counted. */
function longRuns(world: World): void {
  const { runWallTimeMs } = world.file.settings.limits;
  if (runWallTimeMs === 0) return;
  for (const { startTime, incarnation, runId, issueId, survives } of world.processes.all()) {
    const mostMs = runWallTimeMs + endingMs + knowledgeLagMs(world) + world.questions.waitedMs(runId, world.now);
    if (survives || world.now - Math.max(startTime, world.disturbedAt) <= mostMs) continue;
    if (world.incarnations.get(incarnation)?.incarnation.isAlive === true)
      world.broke('limits', issueId, `the agent of run ${runId} works for ${world.now - startTime} ms`);
  }
}

const spentByIssue = `
  select coalesce(sum(value) filter (where name = 'runs'), 0) as runs,
    coalesce(sum(value) filter (where name = 'tokens'), 0) as tokens,
    coalesce(sum(value) filter (where name = 'wall_ms'), 0) as wall_ms
  from counters where issue_id = ?`;
