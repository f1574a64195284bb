import { utcDay } from '../../../../src/core/cadence/utc-day.ts';
import { taskRoleOf } from '../../../../src/core/task/task.ts';
import type { World } from '../../world.ts';
import { knowledgeLagMs } from '../knowledge-lag.ts';
import type { Rule } from '../rule.ts';
import { isMoneyUsed, runsPerDay } from './role-budgets.ts';

const lookEveryMs = 5_000;
/** Ending an agent takes time, and so does a slow store. */
const endingMs = 60_000;

/**
 * Every task ends in bounded time: a run of it is over after its `timeout_ms`, and one that waits for its agent is shown by each
 * daemon as running, as retrying, as held or with the reason why it does not start. `leftOver` has those that never start.
 */
export function tasksEnd(world: World): Rule {
  const since = new Map<string, number>();
  let nextLookAt = 0;
  return {
    afterStep: () => {
      if (world.now < nextLookAt) return;
      nextLookAt = world.now + lookEveryMs;
      longRuns(world);
      const hidden = new Set(hiddenTasks(world));
      for (const id of since.keys()) if (!hidden.has(id)) since.delete(id);
      for (const id of hidden) {
        const at = since.get(id) ?? world.now;
        since.set(id, at);
        if (world.now - Math.max(at, world.disturbedAt) > knowledgeLagMs(world))
          world.broke('tasks_end', id, `it waits since ${at} ms, and no daemon says why`);
      }
    },
  };
}

function longRuns(world: World): void {
  const { intake, scanner } = world.plan.settings;
  for (const { role, issueId, runId, startedSeenAt, incarnation } of world.ledger.unfinished.values()) {
    if (role !== 'intake' && role !== 'scanner') continue;
    const isAlive = world.incarnations.get(incarnation)?.incarnation.isAlive === true;
    const mostMs = (role === 'intake' ? intake : scanner).timeoutMs + endingMs + knowledgeLagMs(world);
    if (isAlive && world.now - Math.max(startedSeenAt, world.disturbedAt) > mostMs)
      world.broke('tasks_end', issueId, `run ${runId} takes ${world.now - startedSeenAt} ms`);
  }
}

function hiddenTasks({ memory, running }: World): string[] {
  const shown = running.map(({ orchestrator }) => {
    const { held, retrying, running: live, skipped, waitingQuota } = orchestrator.read();
    const told = skipped.filter(({ reason }) => reason.code !== 'not_read');
    return new Set([...held, ...retrying, ...live, ...waitingQuota, ...told].map(({ issue }) => issue.id));
  });
  const has = new Set(memory.look<{ issue_id: string }>(claimed).map(({ issue_id }) => issue_id));
  return memory
    .look<{ id: string }>(waiting)
    .map(({ id }) => id)
    .filter((id) => !has.has(id) && shown.some((ids) => !ids.has(id)));
}

/** The tasks that should have started, and have no reason to wait. */
export function waitingTasks(world: World): string[] {
  if (world.tasks === null) return [];
  return world.memory
    .look<{ id: string }>(waiting)
    .map(({ id }) => id)
    .filter((id) => !isBudgetUsed(world, taskRoleOf(id) ?? ''));
}

function isBudgetUsed(world: World, role: string): boolean {
  const most = runsPerDay(world, role);
  const day = utcDay(world.clock.now());
  const used = world.memory
    .look<{ ended_at: number | null }>('select ended_at from runs where role = ?', role)
    .filter(({ ended_at }) => ended_at === null || utcDay(ended_at) === day).length;
  return (most > 0 && used >= most) || isMoneyUsed(world, role);
}

const waiting = "select id from tasks where status = 'waiting'";
const claimed = 'select issue_id from claims where owner is not null';
