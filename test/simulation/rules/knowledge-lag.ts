import type { World } from '../world.ts';

/**
 * How long a healthy daemon may take to learn of something: two whole ticks, each with a few answers of the tracker as
 * slow as any of this seed, and the moves that it makes itself.
 */
export function knowledgeLagMs({ plan, file }: World): number {
  return 2 * file.settings.polling.intervalMs + 8 * plan.tracker.slowestMs + 10_000;
}
