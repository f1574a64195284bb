import { toBatonError } from '../core/baton-error.ts';
import type { OrchestratorContext } from './context.ts';
import { dispatchCandidates } from './dispatch.ts';
import { maintain } from './maintenance.ts';
import { endStalledRuns, refreshClaimedIssues } from './reconcile.ts';
import { serveWaitingLooks } from './waiting-looks.ts';

/** What a tick found wrong, by step. */
export interface TickReport {
  readonly errors: readonly { readonly step: string; readonly error: ReturnType<typeof toBatonError> }[];
}

/** The steps of a tick, in their order. Reconcile always comes before dispatch (seed 2, Reconciliation First). */
const steps = {
  commands: (context: OrchestratorContext) => context.knock(),
  stalls: endStalledRuns,
  reconcile: refreshClaimedIssues,
  retries: serveWaitingLooks,
  dispatch: dispatchCandidates,
  maintenance: maintain,
} as const;

/** One pass of the steps (law 5): each in its own error boundary, none begun after the orchestrator was told to stop. */
export async function runTick(context: OrchestratorContext): Promise<TickReport> {
  const errors: TickReport['errors'][number][] = [];
  for (const [step, run] of Object.entries(steps)) {
    if (context.stopping.aborted) break;
    try {
      await run(context);
    } catch (thrown) {
      if (context.stopping.aborted) break;
      const error = toBatonError(thrown);
      context.logger.error('A step of the tick failed.', { step, error });
      errors.push({ step, error });
    }
  }
  return { errors };
}
