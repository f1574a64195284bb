import { sleep } from '../../src/clock/clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Publication } from '../../src/core/run/run-evidence.ts';
import type { WorkspaceFacts, Workspaces } from '../../src/workspace/workspace.ts';
import type { Incarnation } from './incarnation.ts';
import { commitRest, examineCheckout, makeCheckout, publish } from './review/review-workspaces.ts';
import type { World } from './world.ts';

/**
 * Workspaces that are names with a number, which grows with every change of an agent. Their hooks are slow and
 * fail. They survive the daemons.
 */
export function simulatedWorkspaces(world: World, incarnation: Incarnation): Workspaces {
  const { draw, plan, workspaces, review } = world;
  const visit = async (signal: AbortSignal | undefined): Promise<void> => {
    if (draw.workspaces.chance(0.5)) await sleep(incarnation.clock, draw.workspaces.logBetween(1, 20_000), signal);
  };
  const fails = (): boolean => !world.isCalm && draw.workspaces.chance(plan.workspaces.fails);
  const pathOf = (identifier: string): string => `/workspaces/${identifier}`;
  const delivered = async (path: string): Promise<Publication | null> =>
    review === null
      ? {
          outcome: 'published',
          branch: path,
          commit: String(workspaces.get(path)),
          before: null,
          reason: null,
          elsewhere: null,
        }
      : publish(review, incarnation, path);
  return {
    pathOf,
    prepare: ({ issue, branch, signal }) =>
      incarnation.call('workspaces.prepare', async () => {
        await visit(signal);
        if (fails()) throw new BatonError('workspace_unavailable', 'The simulated workspace could not be made.');
        const path = pathOf(issue.identifier);
        const created = !workspaces.has(path);
        if (created) workspaces.set(path, 0);
        if (created && review !== null) makeCheckout(review, path, branch);
        return { path, created, gitDir: null };
      }),
    beforeRun: (_workspace, { signal }) =>
      incarnation.call('workspaces.beforeRun', async () => {
        await visit(signal);
        if (fails()) throw new BatonError('workspace_hook_failed', 'The simulated hook before_run exited with code 1.');
      }),
    keepOut: async (path, folder) => void world.pipeline?.keptOut.add(`${path}/${folder}`),
    readFile: (path, name, mostBytes) =>
      incarnation.call('workspaces.readFile', async () => {
        if (fails()) return { why: 'the simulated disk does not answer' };
        const text = world.pipeline?.files.get(path)?.get(name);
        if (text === undefined) return { why: 'it does not exist' };
        return text.length > mostBytes ? { bytes: text.length } : { text };
      }),
    verify: async () => {},
    commitRest: ({ path }) =>
      incarnation.call('workspaces.commitRest', async () => (review === null ? null : commitRest(review, path))),
    afterRun: ({ path }) => incarnation.call('workspaces.afterRun', () => visit(undefined).then(() => delivered(path))),
    bringHome: (path) => incarnation.call('workspaces.bringHome', () => visit(undefined).then(() => delivered(path))),
    remove: ({ path }, { issue, signal }) =>
      incarnation.call('workspaces.remove', async () => {
        await visit(signal).catch(() => {});
        if (fails()) return { outcome: 'kept', code: 'failed', reason: 'the simulated disk does not let it go' };
        for (const rule of world.rules) rule.removed?.({ issueId: issue.id, machine: incarnation.machine });
        review?.checkouts.delete(path);
        world.pipeline?.files.delete(path);
        return workspaces.delete(path) ? { outcome: 'removed', saved: [] } : { outcome: 'absent' };
      }),
    isThere: (path) => incarnation.call('workspaces.isThere', async () => workspaces.has(path)),
    finishRemovals: () => incarnation.call('workspaces.finishRemovals', () => visit(undefined)),
    examine: (path) => incarnation.call('workspaces.examine', async () => (fails() ? null : factsOf(world, path))),
    list: () =>
      incarnation.call('workspaces.list', async () => {
        if (fails()) throw new BatonError('workspace_unavailable', 'The simulated root could not be read.');
        const paths = [...workspaces.keys()].toSorted();
        return paths.map((path) => {
          const key = path.slice(pathOf('').length);
          return { key, path, state: 'whole' as const, bytes: null, changedAt: 0 };
        });
      }),
  };
}

function factsOf({ review, workspaces }: World, path: string): WorkspaceFacts {
  const changes = String(workspaces.get(path));
  const checkout = review?.checkouts.get(path);
  if (review === null || checkout === undefined) return { fingerprint: changes, git: null };
  return { fingerprint: `${checkout.head} ${checkout.loose}`, ...examineCheckout(review, checkout) };
}
