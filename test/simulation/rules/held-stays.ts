import { decideAboutRun } from '../../../src/core/reconcile-decision.ts';
import type { World } from '../world.ts';
import { knowledgeLagMs } from './knowledge-lag.ts';
import type { Rule } from './rule.ts';

/** A tracker that does not answer is given up after two minutes: what it answers last may be that old. */
const oldestAnswerMs = 120_000;

/** A held issue does not start, and its hold does not end, unless a person asked for that or the issue is not to be done. */
export function heldStays(world: World): Rule {
  const heldSince = new Map<string, number>();
  const isFree = (issueId: string, since: number): boolean =>
    decideAboutRun(world.book.get(issueId) ?? null, world.file.settings.tracker).action === 'stop' ||
    (world.freedAt.get(issueId) ?? -1) >= since ||
    (world.book.changedAt.get(issueId) ?? Number.NEGATIVE_INFINITY) >= since - oldestAnswerMs - knowledgeLagMs(world);
  return {
    runStarted: ({ issueId, runId }) => {
      const since = heldSince.get(issueId);
      if (since !== undefined && !isFree(issueId, since))
        world.broke('held_stays', issueId, `run ${runId} starts and the issue is held since ${since} ms`);
    },
    afterStep: () => {
      if (!world.storeHasChanged) return;
      const held = new Set(world.memory.look<{ issue_id: string }>(heldIssues).map(({ issue_id }) => issue_id));
      for (const issueId of held) if (!heldSince.has(issueId)) note(world, heldSince, issueId);
      for (const [issueId, since] of heldSince) {
        if (held.has(issueId)) continue;
        heldSince.delete(issueId);
        if (!isFree(issueId, since)) world.broke('held_stays', issueId, `the hold of ${since} ms is gone unasked`);
      }
    },
  };
}

/** A command of before the hold that is carried out after it counts as given after it. */
function note(world: World, heldSince: Map<string, number>, issueId: string): void {
  heldSince.set(issueId, world.now);
  if (world.memory.look(waitingCommands, `%"${issueId}"%`).length > 0) world.freedAt.set(issueId, world.now);
}

const heldIssues = 'select issue_id from held';
const waitingCommands =
  "select 1 from commands where result_at is null and kind in ('issue_retry', 'issue_release') and payload_json like ? limit 1";
