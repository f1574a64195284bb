import type { SignalPlan, StopSignals } from '../stop-on-signal.ts';

/** One wish to stop, for everybody who works in this Baton. */
export interface SharedSignals {
  /** Aborted at the first signal, or when Baton stops by itself. */
  readonly stopping: AbortSignal;
  /** As a first signal would. */
  stop(): void;
  /** Signals of one's own, until they are disposed; who comes late is told what came before. */
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
