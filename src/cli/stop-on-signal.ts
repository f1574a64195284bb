import type { Clock } from '../clock/clock.ts';
import type { Surroundings } from './surroundings.ts';

/** Ctrl-C in a terminal may arrive twice, once through each process between; that is still one wish. */
const sameSignalMs = 500;

export interface SignalPlan {
  /** The first signal: stop in order. */
  readonly stop: () => void;
  /** The second: end at once. */
  readonly endNow: () => void;
}

/** Listens for INT, TERM and HUP until the returned function is called. */
export function stopOnSignal(plan: SignalPlan, clock: Clock, surroundings: Surroundings): () => void {
  let firstAt: number | null = null;
  const onSignal = (): void => {
    if (firstAt === null) {
      firstAt = clock.monotonic();
      plan.stop();
    } else if (clock.monotonic() - firstAt > sameSignalMs) {
      plan.endNow();
    }
  };
  const undo = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => surroundings.onSignal(signal, onSignal));
  return () => {
    for (const each of undo) each();
  };
}
