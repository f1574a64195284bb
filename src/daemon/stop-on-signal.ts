import type { Surroundings } from './surroundings.ts';

/** One Ctrl-C may arrive twice, once through each process in between; it still counts as one signal. */
const sameSignalMs = 500;

export interface SignalPlan {
  /** The first signal: stop in order. */
  readonly stop: () => void;
  /** The second signal: end at once. Called once. */
  readonly endNow: () => void;
}

export interface StopSignals extends Disposable {
  /** Signals call this plan from now on, including those that came before. */
  follow(plan: SignalPlan): void;
}

/**
 * Listens for INT, TERM and HUP until disposed. Call it before anything starts: a signal may come before there is
 * something to stop, and must not end Baton without ending what Baton has just started.
 */
export function listenForStop({
  clock,
  onSignal: listen,
}: Surroundings): StopSignals & { readonly isStopping: boolean } {
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
    get isStopping() {
      return firstAt !== null;
    },
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
