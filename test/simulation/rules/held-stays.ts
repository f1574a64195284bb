import { decideAboutRun } from '../../../src/core/run/reconcile-decision.ts';
import type { World } from '../world.ts';
import { knowledgeLagMs } from './knowledge-lag.ts';
import type { Rule } from './rule.ts';

/** A tracker call is given up after two minutes, so its answer may be that old. */
const oldestAnswerMs = 120_000;

interface Held {
  readonly since: number;
  /** The current reason; one hold may replace another. */
  code: string;
}

/**
 * A held issue does not start, and its hold does not end, unless a person asked for that or the issue is no longer active.
 * An answer ends the hold for a question, a handback the hold of a takeover, and a reopened pull request the hold of a closed
 * one; none of them ends a hold of another kind.
 */
export function heldStays(world: World): Rule {
  const holds = new Map<string, Held>();
  const isAsked = (issueId: string, { since, code }: Held): boolean => {
    const isAfter = (times: ReadonlyMap<string, number>): boolean => (times.get(issueId) ?? -1) >= since;
    if (isAfter(world.freedAt)) return true;
    if (code === 'pull_closed' && world.memory.look(openPull, issueId).length > 0) return true;
    if (code === 'agent_input_required' && isAfter(world.answeredAt)) return true;
    // A takeover and a handback may happen in one step.
    return (code === 'taken_over' || isAfter(world.takenOverAt)) && isAfter(world.handedBackAt);
  };
  const isFree = (issueId: string, hold: Held): boolean =>
    decideAboutRun(world.book.get(issueId) ?? null, world.file.settings.tracker).action === 'stop' ||
    isAsked(issueId, hold) ||
    (world.book.changedAt.get(issueId) ?? Number.NEGATIVE_INFINITY) >=
      hold.since - oldestAnswerMs - knowledgeLagMs(world);
  return {
    runStarted: ({ issueId, runId }) => {
      const hold = holds.get(issueId);
      if (hold !== undefined && !isFree(issueId, hold))
        world.broke('held_stays', issueId, `run ${runId} starts and the issue is held since ${hold.since} ms`);
    },
    afterStep: () => {
      if (!world.storeHasChanged) return;
      const held = new Map(world.memory.look<HeldRow>(heldIssues).map(({ issue_id, code }) => [issue_id, code]));
      for (const [issueId, code] of held) {
        const known = holds.get(issueId);
        if (known === undefined) holds.set(issueId, note(world, issueId, code));
        else known.code = code;
      }
      for (const [issueId, hold] of holds) {
        if (held.has(issueId)) continue;
        holds.delete(issueId);
        if (!isFree(issueId, hold)) world.broke('held_stays', issueId, `the hold of ${hold.since} ms is gone unasked`);
      }
    },
  };
}

interface HeldRow {
  readonly issue_id: string;
  readonly code: string;
}

/** A command from before the hold that is carried out after it counts as later. */
function note(world: World, issueId: string, code: string): Held {
  for (const [kinds, times] of [
    ["('issue_retry', 'issue_release', 'phase_move', 'phase_approve', 'phase_reject')", world.freedAt],
    ["('issue_takeover')", world.takenOverAt],
    ["('issue_handback')", world.handedBackAt],
  ] as const)
    if (world.memory.look(waitingCommands(kinds), `%"${issueId}"%`).length > 0) times.set(issueId, world.now);
  if (world.memory.look(waitingAnswers, issueId).length > 0) world.answeredAt.set(issueId, world.now);
  return { since: world.now, code };
}

const openPull = 'select 1 from pull_requests where issue_id = ? and closed_at is null';
const heldIssues = 'select issue_id, code from held';
const waitingCommands = (kinds: string): string =>
  `select 1 from commands where result_at is null and kind in ${kinds} and payload_json like ? limit 1`;
const waitingAnswers = `
  select 1 from questions where issue_id = ? and exists (
    select 1 from commands where result_at is null and kind = 'question_answer'
      and payload_json like '%"' || questions.id || '"%') limit 1`;
