import type { Daemon } from './daemon.ts';
import type { StopSignals } from './stop-on-signal.ts';

/** How a daemon ended: `in_order` with time to stop its runs, `at_once` without. */
export type DaemonEnd = 'in_order' | 'at_once';

/** Runs a daemon until nothing of it is left, and returns whether it had the time to stop in order. */
export async function runDaemon(
  daemon: Daemon,
  signals: Pick<StopSignals, 'follow'>,
  onStarted: () => void = () => {},
): Promise<DaemonEnd> {
  const { orchestrator } = daemon;
  let how: DaemonEnd = 'in_order';
  signals.follow({
    stop: () => void orchestrator.stop(),
    endNow: () => {
      how = 'at_once';
      void daemon.endAtOnce();
    },
  });
  await orchestrator.start();
  onStarted();
  await orchestrator.closed;
  return how;
}
