import type { PollingSettings } from '../settings.ts';
import { isQuiet } from './quiet-hours.ts';

/** How often the tracker is asked just now, and why. */
export interface Pace {
  readonly mode: PaceMode;
  readonly intervalMs: number;
}

/** `fixed`, or the current pace of the adaptive mode: by the last activity, or dormant because of the quiet hours. */
export type PaceMode = 'fixed' | 'active' | 'idle' | 'dormant' | 'quiet';

export interface PaceFacts {
  readonly polling: PollingSettings;
  /** Wall time, like all of them. */
  readonly now: number;
  /** Null: nothing has ever happened. */
  readonly lastActivityAt: number | null;
  /** The tracker is on this machine. */
  readonly isLocal: boolean;
}

/** Reading a tracker on this machine costs nothing, so Baton polls it at least this often in every mode. */
const localIntervalMs = 5_000;

/**
 * The pace of the polls. `fixed` never changes. `adaptive` is `active` until `idleAfterMs` have passed since the last
 * activity, then `idle`, and `dormant` from `dormantAfterMs` on; in quiet hours it is always `quiet`, with the interval
 * of `dormant`. The pace applies to polls only: nothing that watches over live runs uses it.
 */
export function paceOf({ polling, now, lastActivityAt, isLocal }: PaceFacts): Pace {
  const pace = paceOfMode(polling, now, lastActivityAt);
  return isLocal ? { ...pace, intervalMs: Math.min(pace.intervalMs, localIntervalMs) } : pace;
}

/**
 * The wait after `failures` failed polls in a row: the interval doubled for each, at most `longestMs`, but never less
 * than the interval. So a failure never leads to more requests than success would have.
 */
export function afterFailures(intervalMs: number, failures: number, longestMs: number): number {
  return Math.min(intervalMs * 2 ** Math.max(failures, 0), Math.max(intervalMs, longestMs));
}

function paceOfMode(polling: PollingSettings, now: number, lastActivityAt: number | null): Pace {
  const { mode, intervalMs, quietHours } = polling;
  if (mode === 'fixed') return { mode, intervalMs };
  const { activeIntervalMs, idleIntervalMs, dormantIntervalMs, idleAfterMs, dormantAfterMs } = polling;
  if (quietHours !== null && isQuiet(now, quietHours)) return { mode: 'quiet', intervalMs: dormantIntervalMs };
  // An activity in the future counts as now: the clock was set back.
  const since = lastActivityAt === null ? Number.NEGATIVE_INFINITY : Math.min(lastActivityAt, now);
  if (now < since + idleAfterMs) return { mode: 'active', intervalMs: activeIntervalMs };
  if (now < since + dormantAfterMs) return { mode: 'idle', intervalMs: idleIntervalMs };
  return { mode: 'dormant', intervalMs: dormantIntervalMs };
}
