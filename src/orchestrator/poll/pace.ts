import type { Clock } from '../../clock/clock.ts';
import { afterFailures, type Pace, paceOf } from '../../core/cadence/poll-pace.ts';
import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import { noPressure, type RequestPressure } from '../../core/requests/request-pressure.ts';
import { timeToSecond } from '../../core/text/time-text.ts';
import type { Tracker } from '../../tracker/tracker.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { Activity } from './activity.ts';
import type { TrackerBackoff } from './tracker-backoff.ts';

export type TrackerNowParts = Pick<BaseParts, 'source' | 'trackerFor'>;

export interface PaceParts extends TrackerNowParts {
  readonly clock: Clock;
  readonly activity: Activity;
}

/** Shortest interval of polls for live runs while almost no requests are left. */
const essentialPollMs = 60_000;

/**
 * The tracker of the current settings; null when they are unusable: a poll reports that, and the schedule must
 * continue.
 */
export function trackerNow({ source, trackerFor }: TrackerNowParts): Tracker | null {
  try {
    return trackerFor(source.read().workflow.settings);
  } catch {
    return null;
  }
}

/** How often the tracker is polled while nothing is wrong, and why. */
export function paceNow(parts: PaceParts): Pace {
  const { source, clock, activity } = parts;
  const { polling } = source.read().workflow.settings;
  const isLocal = trackerNow(parts)?.isLocal === true;
  return paceOf({ polling, now: clock.now(), lastActivityAt: activity.lastAt, isLocal });
}

export function pressureNow(parts: TrackerNowParts): RequestPressure {
  return trackerNow(parts)?.pressure?.() ?? noPressure;
}

/** Why nothing new may start for lack of requests: a run needs some to read, watch and move its issue. */
export function whyNoRequests(parts: TrackerNowParts): SkipReason | null {
  const { step, text, until } = pressureNow(parts);
  if (step !== 'essential_only' && step !== 'closed') return null;
  const when = until === null ? '' : ` (until ${timeToSecond(until)})`;
  return { code: 'no_requests', text: `few requests to the tracker are left: ${text}${when}` };
}

/** Time between two polls: set by the mode, and longer when few requests are left. */
export function pollIntervalMs(parts: PaceParts): number {
  const { step, spacingMs } = pressureNow(parts);
  const shortMs = step === 'essential_only' ? Math.max(spacingMs, essentialPollMs) : spacingMs;
  return Math.max(paceNow(parts).intervalMs, shortMs);
}

/**
 * The earliest next poll, on the monotonic clock. A tracker that failed rests; one that refuses requests is not asked;
 * and with almost no requests left there is no poll while nothing runs.
 */
export function pollNotBefore(
  parts: PaceParts & { readonly claims: Claims; readonly reads: { readonly backoff: TrackerBackoff } },
): number {
  const { clock, reads, claims } = parts;
  const { step, until } = pressureNow(parts);
  const isClosed = step === 'closed' || (step === 'essential_only' && claims.running.size === 0);
  const opensAt = isClosed && until !== null ? clock.monotonic() + (until - clock.now()) : Number.NEGATIVE_INFINITY;
  return Math.max(reads.backoff.until, opensAt);
}

/** How long a tracker is left alone after this number of failures in a row. A local one is asked again at once. */
export function backoffMs(parts: PaceParts, failures: number): number {
  if (trackerNow(parts)?.isLocal === true) return 0;
  const { dormantIntervalMs } = parts.source.read().workflow.settings.polling;
  return afterFailures(paceNow(parts).intervalMs, failures, dormantIntervalMs);
}
