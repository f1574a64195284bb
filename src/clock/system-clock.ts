import type { Clock, Timer } from './clock.ts';

/** Node fires a timer at once when its delay does not fit into 31 bits; longer delays are made of steps of this. */
const longestDelayMs = 2 ** 31 - 1;

/** The real clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, action) {
    let handle: NodeJS.Timeout;
    const arm = (leftMs: number): void => {
      const stepMs = Math.min(Math.max(leftMs, 0), longestDelayMs);
      handle = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : action()), stepMs);
    };
    arm(delayMs);
    return { cancel: () => clearTimeout(handle) } satisfies Timer;
  },
};
