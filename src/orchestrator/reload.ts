import type { OrchestratorContext } from './context.ts';
import { forgetLook } from './schedule-look.ts';

/**
 * The store was put back to an earlier moment beside us: what it says about holds and retries holds from now on. The runs
 * in progress go on, under claims as the store has them now. All of it is read before anything changes, so that no tick
 * sees a held issue free.
 */
export async function takeUpRestored(context: OrchestratorContext): Promise<void> {
  const { store, project, state, takeover, source } = context;
  const { leaseMs } = source.read().workflow.settings.store;
  const held = new Map((await store.held.list(project)).map((each) => [each.issueId, each]));
  const retries = new Set((await store.retries.list(project)).map(({ issueId }) => issueId));
  for (const { issue } of state.running.values()) await takeover.reclaim(issue.id, issue.state, leaseMs);
  for (const id of [...state.held.keys()].filter((each) => !held.has(each))) {
    state.held.delete(id);
    state.generations.delete(id);
  }
  for (const id of [...state.retrying.keys()].filter((each) => !retries.has(each))) {
    forgetLook(context, id);
    state.generations.delete(id);
  }
  for (const [id, running] of state.running) {
    const hold = held.get(id);
    running.holdAfterwards = hold === undefined ? null : { code: hold.code, reason: hold.reason };
  }
}
