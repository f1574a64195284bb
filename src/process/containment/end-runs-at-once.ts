import type { Clock } from '../../clock/clock.ts';
import { type Swept, sweep } from './sweep.ts';

/**
 * Ends several runs without asking them first, all in the same looks: for a daemon that must have its agents dead before
 * its lease ends, and has no time for the ladder. Takes five seconds at the most, and then tells what is left.
 */
export function endRunsAtOnce(runIds: Iterable<string>, deps: { readonly clock: Clock }): Promise<Swept> {
  const wanted = new Set(runIds);
  return sweep({ isMarked: ({ runId }) => runId !== null && wanted.has(runId), graceMs: 0 }, deps.clock);
}
