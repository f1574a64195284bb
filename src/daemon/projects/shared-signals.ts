import type { SignalPlan, StopSignals } from '../stop-on-signal.ts';

/** One request to stop, shared by all projects of this Baton. */
export interface SharedSignals {
  /** Aborted at the first signal, or when Baton stops by itself. */
  readonly stopping: AbortSignal;
  /** Stops Baton as the first signal does. */
  stop(): void;
  /**
   * Returns signals for one project, until they are disposed. A project that joins late receives the earlier signals.
   */
  share(): StopSignals;
}

export function shareSignals(signals: Pick<StopSignals, 'follow'>): SharedSignals {
  const plans = new Set<SignalPlan>();
  const stopping = new AbortController();
  let isUrgent = false;
  const stop = (): void => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    for (const plan of plans) plan.stop();
  };
  const endNow = (): void => {
    isUrgent = true;
    for (const plan of plans) plan.endNow();
  };
  signals.follow({ stop, endNow });
  return {
    stopping: stopping.signal,
    stop,
    share: () => {
      let own: SignalPlan | null = null;
      const leave = (): void => {
        if (own !== null) plans.delete(own);
      };
      return {
        follow: (plan) => {
          leave();
          own = plan;
          plans.add(plan);
          if (stopping.signal.aborted) plan.stop();
          if (isUrgent) plan.endNow();
        },
        [Symbol.dispose]: leave,
      };
    },
  };
}
