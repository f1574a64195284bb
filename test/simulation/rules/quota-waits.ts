import type { LedgerRun } from '../run-ledger.ts';
import type { World } from '../world.ts';
import { hasCompleted } from './pipeline/has-completed.ts';
import type { Rule } from './rule.ts';

interface Streaks {
  readonly failures: number;
  readonly stale_runs: number;
}

/**
 * Waiting for quota changes no counter of an issue: neither its failures nor its runs without a change in a row,
 * and the run after the wait is the same attempt.
 */
export function quotaWaits(world: World): Rule {
  /** The counters of an issue when its run started. */
  const before = new Map<string, Streaks>();
  const lastRun = new Map<string, LedgerRun>();
  /** A person who releases or retries an issue gives it a new allowance: its attempts and counters begin again. */
  const freedSince = (run: LedgerRun): boolean => (world.freedAt.get(run.issueId) ?? -1) >= run.startedSeenAt;
  return {
    runStarted: (run) => {
      const last = lastRun.get(run.issueId);
      if (run.retryKind === 'quota' && last !== undefined && last.attempt !== run.attempt && !freedSince(last)) {
        const what = `run ${run.runId} is attempt ${run.attempt} after a wait for a quota`;
        world.broke('quota_waits', run.issueId, `${what}, the one before was ${last.attempt}`);
      }
      lastRun.set(run.issueId, run);
      before.set(run.runId, streaksOf(world, run));
    },
    runEnded: (run) => {
      const was = before.get(run.runId);
      before.delete(run.runId);
      if (run.errorCode !== 'agent_quota_exhausted' || was === undefined) return;
      if (freedSince(run) || hasCompleted(world, run) || wasMovedAway(world, run)) return;
      const is = streaksOf(world, run);
      for (const name of ['failures', 'stale_runs'] as const)
        if (is[name] !== was[name])
          world.broke('quota_waits', run.issueId, `${name} is ${is[name]} after a lack of quota, and was ${was[name]}`);
    },
  };
}

/** A person moved the issue during the run to where no agent works on it: the claim is released, and its counters end. */
function wasMovedAway({ book, memory }: World, { issueId, startedSeenAt }: LedgerRun): boolean {
  if ((book.changedAt.get(issueId) ?? -1) < startedSeenAt) return false;
  return memory.look('select 1 from claims where owner is not null and issue_id = ?', issueId).length === 0;
}

function streaksOf({ memory }: World, { issueId }: LedgerRun): Streaks {
  const [row] = memory.look<Streaks>(streaks, issueId);
  return row ?? { failures: 0, stale_runs: 0 };
}

const streaks = `
  select coalesce(sum(value) filter (where name = 'failures'), 0) as failures,
    coalesce(sum(value) filter (where name = 'stale_runs'), 0) as stale_runs
  from counters where issue_id = ?`;
