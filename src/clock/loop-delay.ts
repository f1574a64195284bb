import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How late the event loop runs its work, in milliseconds, since the measurement began. */
export interface LoopDelay {
  read(): { readonly p50: number; readonly p99: number; readonly max: number };
  close(): void;
}

/** Between two measurements, in milliseconds. */
const resolution = 10;

export function watchLoopDelay(): LoopDelay {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  // The histogram has the time between two measurements, so a loop that is never late shows the resolution itself.
  const ms = (nanoseconds: number): number =>
    Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e6 - resolution) : 0;
  return {
    read: () => ({ p50: ms(delay.percentile(50)), p99: ms(delay.percentile(99)), max: ms(delay.max) }),
    close: () => void delay.disable(),
  };
}
