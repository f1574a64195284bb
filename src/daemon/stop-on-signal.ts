import type { Surroundings } from './surroundings.ts';

/** Ctrl-C in a terminal may arrive twice, once through each process between; that is still one wish. */
const sameSignalMs = 500;

export interface SignalPlan {
  /** The first signal: stop in order. */
  readonly stop: () => void;
  /** The second: end at once. Called once. */
  readonly endNow: () => void;
}

export interface StopSignals extends Disposable {
  /** From now on signals do this, and so do those that came before. */
  follow(plan: SignalPlan): void;
}

/**
 * Listens for INT, TERM and HUP until disposed. It is begun before anything is started, for a signal may come before
 * there is something to stop, and must not end Baton without ending what Baton has just begun.
 */
export function listenForStop({ clock, onSignal: listen }: Surroundings): StopSignals {
  let firstAt: number | null = null;
  let isUrgent = false;
  let plan: SignalPlan | null = null;
  const onSignal = (): void => {
    if (firstAt === null) {
      firstAt = clock.monotonic();
      plan?.stop();
    } else if (!isUrgent && clock.monotonic() - firstAt > sameSignalMs) {
      isUrgent = true;
      plan?.endNow();
    }
  };
  const undo = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => listen(signal, onSignal));
  return {
    follow: (wanted) => {
      plan = wanted;
      if (firstAt !== null) plan.stop();
      if (isUrgent) plan.endNow();
    },
    [Symbol.dispose]: () => {
      for (const each of undo) each();
    },
  };
}
