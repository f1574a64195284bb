import type { World } from '../world.ts';
import type { Rule } from './rule.ts';

/** No workspace is removed while its agent is alive on that machine (F080). */
export function liveWorkspace(world: World): Rule {
  return {
    removed: ({ issueId, machine }) => {
      const live = world.processes.ofIssue(issueId).filter((process) => process.machine === machine);
      const pids = live.map(({ pid }) => pid).join(', ');
      if (live.length > 0) world.broke('live_workspace', issueId, `its workspace was removed under ${pids}`);
    },
  };
}
