import { largestSkewMs } from '../keeper.ts';
import type { LedgerRun } from '../run-ledger.ts';
import type { World } from '../world.ts';
import { hasCompleted } from './pipeline/has-completed.ts';
import type { Rule } from './rule.ts';

interface Wait {
  readonly failures: number;
  readonly isQuota: boolean;
  readonly at: number;
  readonly notBefore: number;
  readonly incarnation: string;
  readonly generation: number;
}

const failures = new Set<string | null>(['failed', 'timed_out', 'stalled']);
/** After these an issue is held, and a person decides what follows. */
const needsPerson = new Set<string | null>([
  'agent_input_required',
  'agent_survives',
  'agent_auth_failed',
  'run_stalemate',
]);
/** The environment may be to blame for these; then the failure is not counted, and the issue waits for the next try of any run. */
const mayBeEnvironment = new Set<string | null>([
  'agent_launch_failed',
  'workspace_hook_failed',
  'workspace_unavailable',
]);
const baseMs = 10_000;
const quotaBaseMs = 60_000;
/** From an agent's last message to its end in the store: it is ended, a hook runs, and the store may be out of reach. */
const toldMs = 120_000;

/**
 * After the n-th failure in a row an issue does not start before `min(10,000 · 2^(n−1), max)` milliseconds, and without
 * quota not before it is back, or for a minute if that time is unknown, unless there is another account, a run got through,
 * or a person had the account tried; this also holds after a restart, unless a person asked for it or changed the issue.
 */
export function backoff(world: World): Rule {
  const waits = new Map<string, Wait>();
  /** A judge does not wait for the failures of a worker, nor a worker for those of a judge, nor one phase for another. */
  const keyOf = ({ issueId, role, phase }: LedgerRun): string => `${role} ${phase} ${issueId}`;
  /** When a run last got through: another daemon's account may have recovered before its announced time. */
  let goodAt = Number.NEGATIVE_INFINITY;
  const stillCounts = (run: LedgerRun): Wait | undefined => {
    const last = waits.get(keyOf(run));
    return last?.isQuota === true && goodAt >= last.at ? undefined : countedWait(world, run.issueId, last);
  };
  return {
    runEnded: (run) => {
      if (run.outcome === 'succeeded') goodAt = world.now;
      if (run.outcome === 'interrupted') return;
      const before = stillCounts(run);
      if (hasCompleted(world, run)) waits.delete(keyOf(run));
      else if (failures.has(run.outcome) && !needsPerson.has(run.errorCode))
        waits.set(keyOf(run), next(world, run, before));
      else waits.delete(keyOf(run));
    },
    runStarted: (run) => {
      const last = stillCounts(run);
      if (last === undefined) return;
      const earlyMs = last.notBefore - world.now - toleranceMs(world, last, run);
      if (earlyMs <= 0) return;
      const what = `run ${run.runId} starts ${earlyMs} ms too early after ${last.failures} failures`;
      world.broke('backoff', run.issueId, what);
    },
  };
}

function next(world: World, run: LedgerRun, before: Wait | undefined): Wait {
  const { now, memory, plan, incarnations } = world;
  const { clock } = incarnations.get(run.incarnation)?.incarnation ?? world;
  // A command from before the failure that is carried out after it counts as later.
  if (memory.look('select 1 from commands where result_at is null limit 1').length > 0)
    world.askedAt.set(run.issueId, now);
  const isQuota = run.errorCode === 'agent_quota_exhausted';
  const isOfAll = mayBeEnvironment.has(run.errorCode);
  const count = (before?.failures ?? 0) + (isQuota || isOfAll ? 0 : 1);
  const backAt = world.quotaBackAt.get(run.runId) ?? now;
  const waitMs = Math.min(baseMs * 2 ** (count - 1), plan.settings.agent.maxRetryBackoffMs);
  // The wait starts with the end, by the clock of the daemon that had the run; it may have been written a while later.
  const endedMs = Math.min(now, now - (clock.now() - (run.endedAt ?? clock.now())));
  const guessed = endedMs + (isQuota ? quotaBaseMs : waitMs);
  // The reset time of a quota is wall time, and the clock may have been set since.
  const isMisdated = isQuota && (now - world.wallJumpedAt < toldMs || hasOlderRun(world));
  const mayGoOn = isMisdated || isOfAll || (isQuota && plan.settings.agent.accounts.length > 1);
  const notBefore = mayGoOn ? now : isQuota && backAt > now ? backAt : guessed;
  return { failures: count, isQuota, at: now, notBefore, incarnation: run.incarnation, generation: run.generation };
}

/** A run from before the clock was set may seem to be newer than the lack of quota, and then ends the wait. */
function hasOlderRun({ ledger, wallJumpedAt }: World): boolean {
  return [...ledger.unfinished.values()].some(({ startedSeenAt }) => startedSeenAt <= wallJumpedAt);
}

/** Whether the wait still counts: no person lifted it, and no wall clock was set. */
function countedWait(world: World, issueId: string, last: Wait | undefined): Wait | undefined {
  if (last === undefined) return undefined;
  if ((world.askedAt.get(issueId) ?? -1) >= last.at || (world.book.changedAt.get(issueId) ?? -1) >= last.at)
    return undefined;
  // A pull request that a person opens again ends the hold of its issue, and with it the wait.
  if (world.review?.github?.reopened.has(`baton/${world.book.get(issueId)?.identifier}`) === true) return undefined;
  // It is tried early if a person asks for it, or if the clock says that it is time; and then it may work again.
  if (last.isQuota && Math.max(world.triedAgainAt, world.wallJumpedAt) >= last.at) return undefined;
  return last;
}

/**
 * The incarnation that scheduled a wait keeps it by the monotonic clock while it has the issue; after that the wall
 * clocks of the daemons that continue it count, perhaps those of the same incarnation.
 */
function toleranceMs(world: World, last: Wait, run: LedgerRun): number {
  if (last.incarnation === run.incarnation && last.generation === run.generation) return 0;
  if (world.wallJumpedAt >= last.at) return Number.POSITIVE_INFINITY;
  return last.incarnation[0] === run.incarnation[0] ? 0 : 2 * largestSkewMs;
}
