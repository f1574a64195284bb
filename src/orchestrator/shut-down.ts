import { timedOut, within } from '../clock/clock.ts';
import type { Claims } from './claims/claims.ts';
import type { BaseParts } from './parts.ts';
import type { Runs } from './runs/runs.ts';

export interface ShutDownParts extends Pick<BaseParts, 'clock' | 'logger' | 'processes'> {
  readonly claims: Claims;
  readonly runs: Runs;
}

/** After this time a stop ends the remaining runs by force. */
const shutdownTimeoutMs = 30_000;
/** How long a stop waits for the tick in progress (seed 4, Graceful Shutdown Drain). */
const tickDrainMs = Math.min(5_000, 0.2 * shutdownTimeoutMs);

/** Nothing new starts any more: lets the tick in progress end, asks every run to stop, and ends those that do not. */
export async function endRuns(parts: ShutDownParts, ticking: Promise<void> | null): Promise<void> {
  const { claims, runs, clock, logger, processes } = parts;
  if (ticking !== null) await within(clock, tickDrainMs, ticking);
  const live = [...claims.running.values()];
  for (const running of live) runs.stop(running, 'shutdown');
  const gone = Promise.all(live.map(({ over }) => over.promise));
  if ((await within(clock, shutdownTimeoutMs, gone)) === timedOut) {
    logger.warn('agents_killed_at_stop');
    await processes.endAtOnce(live.map(({ runId }) => runId));
  }
  await gone;
}

/** For the next daemon: releases our claims; retries and holds stay. */
export async function releaseClaims({ claims, logger }: ShutDownParts): Promise<void> {
  try {
    await claims.releaseAll();
  } catch (error) {
    logger.warn('claims_release_failed', { error });
  }
}
