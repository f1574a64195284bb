import type { World } from '../world.ts';
import { knowledgeLagMs } from './knowledge-lag.ts';
import type { Rule } from './rule.ts';

/** Enough to end an agent, leave its workspace, and record its end. */
const endingMs = 60_000;

/**
 * An issue that a person has taken over has no agent: none starts on it, its run ends soon, and
 * then no process of it is alive.
 */
export function takenOver(world: World): Rule {
  const since = new Map<string, number>();
  const look = (): void => {
    if (!world.storeHasChanged) return;
    const taken = new Set(world.memory.look<{ issue_id: string }>(takenIssues).map(({ issue_id }) => issue_id));
    for (const id of since.keys()) if (!taken.has(id)) since.delete(id);
    for (const id of taken) if (!since.has(id)) since.set(id, world.now);
  };
  return {
    spawned: ({ issueId, runId }) => {
      // One that is being ended may have started just before.
      if (since.has(issueId) && ![...world.ledger.unfinished.values()].some((run) => run.issueId === issueId))
        world.broke('taken_over', issueId, `an agent of run ${runId} starts beside the person who has it`);
    },
    runStarted: ({ issueId, runId }) => {
      if (world.memory.look(takenIssue, issueId).length > 0)
        world.broke('taken_over', issueId, `run ${runId} starts and a person has it in his hands`);
    },
    afterStep: () => {
      look();
      for (const [issueId, at] of since) checkAgents(world, issueId, at);
    },
  };
}

function checkAgents(world: World, issueId: string, since: number): void {
  const run = [...world.ledger.unfinished.values()].find((each) => each.issueId === issueId);
  const live = world.processes.ofIssue(issueId).filter(({ machine }) => !world.isStandingStill(machine));
  if (run === undefined && live.length > 0)
    world.broke('taken_over', issueId, `agents ${live.map(({ pid }) => pid).join(', ')} live beside the person`);
  const waitedMs = world.now - Math.max(since, world.disturbedAt);
  if (run !== undefined && waitedMs > endingMs + knowledgeLagMs(world))
    world.broke('taken_over', issueId, `run ${run.runId} does not end since ${since} ms`);
}

const takenIssues = "select issue_id from held where code = 'taken_over'";
const takenIssue = `${takenIssues} and issue_id = ?`;
