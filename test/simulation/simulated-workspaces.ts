import { sleep } from '../../src/clock/clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Workspaces } from '../../src/workspace/workspace.ts';
import type { Life } from './life.ts';
import type { World } from './world.ts';

/**
 * Workspaces that are names with a number, which grows with every change of an agent. Their hooks take their time and
 * fail. They outlive the daemons.
 */
export function simulatedWorkspaces(world: World, life: Life): Workspaces {
  const { draw, plan, workspaces } = world;
  const visit = async (signal: AbortSignal | undefined): Promise<void> => {
    if (draw.workspaces.chance(0.5)) await sleep(life.clock, draw.workspaces.logBetween(1, 20_000), signal);
  };
  const fails = (): boolean => !world.isCalm && draw.workspaces.chance(plan.workspaces.fails);
  const pathOf = (identifier: string): string => `/workspaces/${identifier}`;
  return {
    pathOf,
    prepare: ({ issue, signal }) =>
      life.call('workspaces.prepare', async () => {
        await visit(signal);
        if (fails()) throw new BatonError('workspace_unavailable', 'The simulated workspace could not be made.');
        const path = pathOf(issue.identifier);
        const created = !workspaces.has(path);
        if (created) workspaces.set(path, 0);
        return { path, created };
      }),
    beforeRun: (_workspace, { signal }) =>
      life.call('workspaces.beforeRun', async () => {
        await visit(signal);
        if (fails()) throw new BatonError('workspace_hook_failed', 'The simulated hook before_run exited with code 1.');
      }),
    afterRun: () => life.call('workspaces.afterRun', () => visit(undefined)),
    remove: ({ path }, { signal }) =>
      life.call('workspaces.remove', async () => {
        await visit(signal).catch(() => {});
        if (fails()) return { outcome: 'kept', reason: 'the simulated disk does not let it go' };
        return { outcome: workspaces.delete(path) ? 'removed' : 'absent' };
      }),
    isThere: (path) => life.call('workspaces.isThere', async () => workspaces.has(path)),
    finishRemovals: () => life.call('workspaces.finishRemovals', () => visit(undefined)),
    fingerprint: (path) =>
      life.call('workspaces.fingerprint', async () => (fails() ? null : String(workspaces.get(path)))),
  };
}
