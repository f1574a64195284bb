import { type ReadonlySignal, signal } from '@preact/signals';

/**
 * The only clock of the page. What must hold:
 *
 * - Everything that shows a time relative to now reads `now`; it ticks once a second, by one timer for the whole page.
 * - It follows the daemon's time: the daemon may be another machine, and "in 12 s" refers to its clock.
 * - No other file sets a timer.
 */
let aheadMs = 0;
const ticking = signal(Date.now());

export const now: ReadonlySignal<number> = ticking;

const secondMs = 1_000;
/** A header has whole seconds, and the response takes time; a smaller difference does not count. */
const noticeableMs = 2_000;

/** Takes over the daemon's time, from the `Date` of an answer. */
export function takeDaemonTime(header: string | null): void {
  const theirs = header === null ? Number.NaN : Date.parse(header);
  if (Number.isNaN(theirs)) return;
  const difference = theirs - Date.now();
  aheadMs = Math.abs(difference) < noticeableMs ? 0 : difference;
}

export function startClock(): void {
  const tick = (): void => {
    ticking.value = Date.now() + aheadMs;
    window.setTimeout(tick, secondMs - (Date.now() % secondMs));
  };
  tick();
}

/** Calls a function once, later; the returned function cancels that. */
export function later(delayMs: number, act: () => void): () => void {
  const timer = window.setTimeout(act, delayMs);
  return () => window.clearTimeout(timer);
}

/** Resolves after a while, or at once when it is aborted. */
export function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = later(delayMs, end);
    signal.addEventListener('abort', end);
  });
}
