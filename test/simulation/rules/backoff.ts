import { largestSkewMs } from '../keeper.ts';
import type { LedgerRun } from '../run-ledger.ts';
import type { World } from '../world.ts';
import type { Rule } from './rule.ts';

interface Wait {
  readonly failures: number;
  readonly isQuota: boolean;
  readonly at: number;
  readonly notBefore: number;
  readonly life: string;
  readonly generation: number;
}

const failures = new Set<string | null>(['failed', 'timed_out', 'stalled']);
/** After these an issue is held: what follows a person decides. */
const needsPerson = new Set<string | null>([
  'agent_input_required',
  'agent_survives',
  'agent_auth_failed',
  'run_stalemate',
]);
const baseMs = 10_000;
const quotaBaseMs = 60_000;
/** From an agent's last word to its end in the store: it is ended, a hook runs, and the store may be out of reach. */
const toldMs = 120_000;

/**
 * After the n-th failure in a row an issue does not start before `min(10,000 · 2^(n−1), max)` milliseconds, and without
 * quota not before that is back, or for a minute where nobody knows when, unless there is another account, or a person had
 * the account tried; also not in another life, unless a person asked for it or changed the issue.
 */
export function backoff(world: World): Rule {
  const waits = new Map<string, Wait>();
  return {
    runEnded: (run) => {
      if (run.outcome === 'interrupted') return;
      const before = stillCounts(world, run.issueId, waits.get(run.issueId));
      if (failures.has(run.outcome) && !needsPerson.has(run.errorCode))
        waits.set(run.issueId, next(world, run, before));
      else waits.delete(run.issueId);
    },
    runStarted: (run) => {
      const last = stillCounts(world, run.issueId, waits.get(run.issueId));
      if (last === undefined) return;
      const earlyMs = last.notBefore - world.now - toleranceMs(world, last, run);
      if (earlyMs <= 0) return;
      const what = `run ${run.runId} starts ${earlyMs} ms too early after ${last.failures} failures`;
      world.broke('backoff', run.issueId, what);
    },
  };
}

function next(world: World, run: LedgerRun, before: Wait | undefined): Wait {
  const { now, memory, plan, lives } = world;
  const { clock } = lives.get(run.life)?.life ?? world;
  // A command of before the failure that is carried out after it counts as asked for after it.
  if (memory.look('select 1 from commands where result_at is null limit 1').length > 0)
    world.askedAt.set(run.issueId, now);
  const isQuota = run.errorCode === 'agent_quota_exhausted';
  const count = (before?.failures ?? 0) + (isQuota ? 0 : 1);
  const backAt = world.quotaBackAt.get(run.runId) ?? now;
  const waitMs = Math.min(baseMs * 2 ** (count - 1), plan.settings.agent.maxRetryBackoffMs);
  // The wait begins with the end, by the clock of whoever had the run, which may have been written a while after it.
  const endedMs = Math.min(now, now - (clock.now() - (run.endedAt ?? clock.now())));
  const guessed = endedMs + (isQuota ? quotaBaseMs : waitMs);
  // The time at which a quota is back is one of the wall clock, which may have been set since the agent was told.
  const isMisdated = isQuota && now - world.wallJumpedAt < toldMs;
  const mayGoOn = isMisdated || (isQuota && plan.settings.agent.accounts.length > 1);
  const notBefore = mayGoOn ? now : isQuota && backAt > now ? backAt : guessed;
  return { failures: count, isQuota, at: now, notBefore, life: run.life, generation: run.generation };
}

/** Nothing that a person makes moot, or a wall clock that was set. */
function stillCounts(world: World, issueId: string, last: Wait | undefined): Wait | undefined {
  if (last === undefined) return undefined;
  if ((world.askedAt.get(issueId) ?? -1) >= last.at || (world.book.changedAt.get(issueId) ?? -1) >= last.at)
    return undefined;
  // It is tried before its time when a person wants that, or the clock says that it has come; and then may be mended.
  if (last.isQuota && Math.max(world.triedAgainAt, world.wallJumpedAt) >= last.at) return undefined;
  return last;
}

/**
 * In the life that promised it a wait is kept by the monotonic clock, as long as it has the issue; after that by the wall
 * clocks of whoever goes on, which may be the same life when the issue comes back to it.
 */
function toleranceMs(world: World, last: Wait, run: LedgerRun): number {
  if (last.life === run.life && last.generation === run.generation) return 0;
  if (world.wallJumpedAt >= last.at) return Number.POSITIVE_INFINITY;
  return last.life[0] === run.life[0] ? 0 : 2 * largestSkewMs;
}
