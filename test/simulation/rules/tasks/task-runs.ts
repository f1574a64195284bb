import { isTaskId } from '../../../../src/core/task/task.ts';
import type { TaskWorld } from '../../tasks/task-world.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

/** After these a task waits as an issue does: for quota, a login, its environment, or the end of its agent. */
const isRepeated = new Set<string | null>([
  'agent_quota_exhausted',
  'agent_auth_failed',
  'agent_survives',
  'agent_launch_failed',
  'workspace_hook_failed',
  'workspace_unavailable',
]);

/**
 * Nothing circles: a task has one run, and one more each time a person asks for it; only a run that could not do its work,
 * because of its account or its environment, is repeated. No run starts for a task that has its answer.
 */
export function taskRuns(world: World, { retries }: TaskWorld): Rule {
  const ended = new Map<string, number>();
  return {
    runStarted: ({ issueId: id, runId }) => {
      if (!isTaskId(id)) return;
      const runs = ended.get(id) ?? 0;
      if (runs > (retries.get(id) ?? 0))
        world.broke(
          'task_runs',
          id,
          `run ${runId} starts after ${runs} runs, and people asked ${retries.get(id) ?? 0} times`,
        );
      const [row] = world.memory.look<{ status: string }>('select status from tasks where id = ?', id);
      if (row?.status !== 'waiting')
        world.broke('task_runs', id, `run ${runId} starts, and the task is ${row?.status}`);
    },
    runEnded: ({ issueId: id, errorCode }) => {
      if (isTaskId(id) && !isRepeated.has(errorCode)) ended.set(id, (ended.get(id) ?? 0) + 1);
    },
  };
}
