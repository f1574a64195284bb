import type { Clock } from '../../clock/clock.ts';
import { type Swept, sweep } from './sweep.ts';

/**
 * Ends everything that any life of a daemon left behind, whatever the store still knows of it, and nothing of another
 * daemon. For the start of a daemon, before it starts anything itself: later it would end its own agents.
 *
 * What is left may be alive; no run it names may be taken over. An agent of an earlier life out of which this daemon was
 * started is never ended, and so it is left.
 */
export function sweepDaemon(
  daemonId: string,
  deps: { readonly clock: Clock },
  options: { readonly graceMs?: number } = {},
): Promise<Swept> {
  return sweep({ isMarked: (entry) => entry.daemonId === daemonId, graceMs: options.graceMs }, deps.clock);
}
