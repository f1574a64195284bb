import type { Daemon } from './daemon.ts';
import type { StopSignals } from './stop-on-signal.ts';

/** Runs a daemon until nothing of it is left, and tells whether it was given the time to stop in order. */
export async function runDaemon(daemon: Daemon, signals: StopSignals): Promise<'in_order' | 'at_once'> {
  const { orchestrator } = daemon;
  let how: 'in_order' | 'at_once' = 'in_order';
  signals.follow({
    stop: () => void orchestrator.stop(),
    endNow: () => {
      how = 'at_once';
      void daemon.endAtOnce();
    },
  });
  await orchestrator.start();
  await orchestrator.closed;
  return how;
}
