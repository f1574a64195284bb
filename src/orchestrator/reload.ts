import type { OrchestratorContext } from './context.ts';
import { heldFrom, lookFrom } from './ledger-rows.ts';
import { forgetLook, scheduleLook } from './schedule-look.ts';
import { isClaimed, slotOfHold } from './scheduling-state.ts';

/**
 * The store was put back to an earlier moment beside us: what it says about holds and retries holds from now on. The runs
 * in progress go on, under claims as the store has them now. All of it is read before anything changes, so that no tick
 * sees a held issue free.
 */
export async function takeUpRestored(context: OrchestratorContext): Promise<void> {
  const { store, project, state, takeover, source, clock } = context;
  const { leaseMs } = source.read().workflow.settings.store;
  const held = new Map((await store.held.list(project)).map((each) => [each.issueId, heldFrom(each)]));
  const looks = new Map((await store.retries.list(project)).map((each) => [each.issueId, lookFrom(each)]));
  for (const { issue } of state.running.values()) await takeover.reclaim(issue.id, issue.state, leaseMs);
  for (const [id, hold] of state.held) await takeover.reclaim(id, slotOfHold(hold), leaseMs);
  for (const id of state.retrying.keys()) await takeover.reclaim(id, null, leaseMs);

  // No await from here on.
  for (const id of [...state.retrying.keys()]) {
    const look = looks.get(id);
    forgetLook(context, id);
    if (look !== undefined && !held.has(id))
      scheduleLook(context, look, { delayMs: Math.max(0, look.dueAt - clock.now()) });
  }
  for (const id of [...state.held.keys()]) if (!held.has(id)) state.held.delete(id);
  for (const [id, running] of state.running) {
    const hold = held.get(id);
    running.holdAfterwards = hold === undefined ? null : { code: hold.code, reason: hold.reason };
  }
  // What nothing is behind any more is found like any other that was left, and given back.
  for (const id of [...state.generations.keys()]) if (!isClaimed(state, id)) state.generations.delete(id);
}
