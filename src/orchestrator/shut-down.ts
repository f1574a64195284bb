import { timedOut, within } from '../clock/clock.ts';
import type { Claims } from './claims/claims.ts';
import type { BaseParts } from './parts.ts';
import type { Runs } from './runs/runs.ts';

export interface ShutDownParts extends Pick<BaseParts, 'clock' | 'logger' | 'processes' | 'source'> {
  readonly claims: Claims;
  readonly runs: Runs;
}

/** How long a stop waits for the tick in progress: at most this, and at most this part of all (seed 4, Graceful Shutdown Drain). */
const longestDrainMs = 5_000;
const drainPart = 0.2;

/** Nothing new starts any more: lets the tick in progress end, asks every run to stop, and ends those that do not. */
export async function endRuns(parts: ShutDownParts, ticking: Promise<void> | null): Promise<void> {
  const { claims, runs, clock, logger, processes, source } = parts;
  const { shutdownTimeoutMs } = source.read().workflow.settings.agent;
  if (ticking !== null) await within(clock, Math.min(longestDrainMs, drainPart * shutdownTimeoutMs), ticking);
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
