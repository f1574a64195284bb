import { recoverySteps } from '../../../src/core/run/context-recovery.ts';
import type { LedgerRun } from '../run-ledger.ts';
import type { World } from '../world.ts';
import { hasCompleted } from './pipeline/has-completed.ts';
import type { Rule } from './rule.ts';

/** After these, a run repeats the step of the previous one. */
const sameAgain = new Set<string | null>(['answered', 'handed_back']);
/** After these, it takes the step that was stored when the previous one ended. */
const asPromised = new Set<string | null>(['failure', 'interrupted', 'quota']);

/**
 * The steps after runs that filled their context only move forward, as long as nothing else ends the sequence:
 * each such run is followed by a later step, or by the last one again; a run that was only interrupted, or waited for a person,
 * is followed by the same step; and the next run takes the stored step.
 */
export function contextRecovery(world: World): Rule {
  const lastStep = new Map<string, string | null>();
  const lastPhase = new Map<string, string | null>();
  const promises = new Map<string, string | null>();
  return {
    runStarted: ({ runId, issueId, phase, retryKind, recovery }) => {
      const before = (sameAgain.has(retryKind) ? lastStep : promises).get(issueId) ?? null;
      const wanted = sameAgain.has(retryKind) || asPromised.has(retryKind) ? before : null;
      // The store knows the last run by the wall clock, which may have been set back.
      const isMisdated = sameAgain.has(retryKind) && Number.isFinite(world.wallJumpedAt);
      // A person may move an issue to another phase, whose agent has a conversation of its own.
      const isMoved = lastPhase.has(issueId) && lastPhase.get(issueId) !== phase;
      if (recovery !== wanted && !isMisdated && !isMoved)
        world.broke('context_recovery', issueId, `run ${runId} does ${recovery}, and not ${wanted}`);
      lastStep.set(issueId, recovery);
      lastPhase.set(issueId, phase);
    },
    runEnded: (run) => {
      const promised = world.memory.look<{ recovery: string | null }>(promisedLook, run.issueId)[0];
      if (promised === undefined) return;
      const { recovery: next } = promised;
      promises.set(run.issueId, next);
      if (hasCompleted(world, run)) return;
      if (run.errorCode === 'agent_context_exhausted' && !isForward(world, run.recovery, next))
        world.broke(
          'context_recovery',
          run.issueId,
          `run ${run.runId} did ${run.recovery}, died of its context, and ${next} follows`,
        );
      if (isCutShort(run) && next !== run.recovery)
        world.broke(
          'context_recovery',
          run.issueId,
          `run ${run.runId} did ${run.recovery}, was cut short, and ${next} follows`,
        );
    },
  };
}

function isCutShort({ outcome, errorCode }: LedgerRun): boolean {
  return outcome === 'interrupted' || errorCode === 'agent_quota_exhausted';
}

function isForward({ plan }: World, last: string | null, next: string | null): boolean {
  const { reducedBudgetTokens, compact, freshStart, largerModel } = plan.settings.agent.contextRecovery;
  const isConfigured = [reducedBudgetTokens !== null, compact, freshStart, largerModel !== null];
  const steps: readonly string[] = recoverySteps.filter((_step, nth) => isConfigured[nth]);
  if (next === null) return steps.length === 0;
  const place = steps.indexOf(next);
  return place === steps.length - 1 || place > (last === null ? -1 : steps.indexOf(last));
}

const promisedLook = 'select recovery from retries where issue_id = ?';
