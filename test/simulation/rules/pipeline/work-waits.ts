import { isTaskId } from '../../../../src/core/task/task.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

/** No worker starts before its issue is ready, and no phase agent or judge of an artifact in another phase than its issue. */
export function workWaits(world: World): Rule {
  return {
    runStarted: ({ runId, issueId, role, phase }) => {
      if (role === 'judge' || isTaskId(issueId)) return;
      const [record] = world.memory.look<{ phase: string }>('select phase from phases where issue_id = ?', issueId);
      const wanted = phase ?? 'ready';
      if (record?.phase !== wanted)
        world.broke('work_waits', issueId, `run ${runId} is for "${wanted}", and the issue in "${record?.phase}"`);
    },
  };
}
