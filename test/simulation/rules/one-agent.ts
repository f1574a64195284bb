import type { World } from '../world.ts';
import type { Rule } from './rule.ts';

/**
 * At most one live agent per issue, across all daemons and restarts. One that was asked to end is alive until it is gone. A
 * process on a frozen machine that no other daemon reaches is not counted until that machine has run again for a while: by then
 * its daemon has ended the agents that it no longer owns.
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
      // Only a machine that was frozen brings back an agent that was not just started.
      if (world.thawedAt.size > 0) for (const { issueId } of world.processes.all()) look(issueId);
    },
  };
}
