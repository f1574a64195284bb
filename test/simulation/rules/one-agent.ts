import type { World } from '../world.ts';
import type { Rule } from './rule.ts';

/**
 * At most one live agent an issue, over all daemons and lives. One that was asked to end is alive until it is gone. What
 * stands still on a machine that nobody else reaches is not counted until that machine has gone on for a while: by then
 * its daemon has ended what is not its own any more.
 */
export function oneAgent(world: World): Rule {
  const look = (issueId: string): void => {
    const live = world.processes.ofIssue(issueId).filter(({ machine }) => !world.isStandingStill(machine));
    if (live.length <= 1) return;
    const who = live.map(
      ({ pid, runId, survives }) => `${pid} of run ${runId}${survives ? ' (no signal ends it)' : ''}`,
    );
    world.broke('one_agent', issueId, `${live.length} live agents: ${who.join(', ')}`);
  };
  return {
    spawned: ({ issueId }) => look(issueId),
    afterStep: () => {
      // Only a machine that stood still brings back an agent that nobody started just now.
      if (world.thawedAt.size > 0) for (const { issueId } of world.processes.all()) look(issueId);
    },
  };
}
