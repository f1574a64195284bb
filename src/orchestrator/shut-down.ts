import { timedOut, within } from '../clock/clock.ts';
import type { OrchestratorContext } from './context.ts';
import { stopRun } from './stop-run.ts';

/** After so long a stop ends what is left without asking. */
const shutdownTimeoutMs = 30_000;
/** How long a stop waits for the tick in progress (seed 4, Graceful Shutdown Drain). */
const tickDrainMs = Math.min(5_000, 0.2 * shutdownTimeoutMs);

/** Nothing new starts any more: lets the tick in progress end, asks every run to stop, and ends those that do not. */
export async function endRuns(context: OrchestratorContext, ticking: Promise<void> | null): Promise<void> {
  const { state, clock, logger, processes } = context;
  for (const entry of state.retrying.values()) entry.timer.cancel();
  if (ticking !== null) await within(clock, tickDrainMs, ticking);
  const runs = [...state.running.values()];
  for (const entry of runs) stopRun(context, entry, 'shutdown');
  const gone = Promise.all(runs.map(({ run }) => run.over));
  if ((await within(clock, shutdownTimeoutMs, gone)) === timedOut) {
    logger.warn('agents_killed_at_stop');
    await processes.endAtOnce(runs.map(({ runId }) => runId));
  }
  await gone;
}

/** For a daemon that comes after us: what we had is free, retries and holds stay. */
export async function giveClaimsBack({ ledger, logger }: OrchestratorContext): Promise<void> {
  try {
    await ledger.releaseClaims();
  } catch (error) {
    logger.warn('claims_release_failed', { error });
  }
}
