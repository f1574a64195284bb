import type { World } from '../world.ts';

/**
 * How long a healthy daemon may take to learn of something: two polls as far apart as any of this seed and a rest after one
 * that failed, jitter included, each with a few answers of the tracker as slow as any, and the moves that it makes itself.
 */
export function knowledgeLagMs({ plan, file }: World): number {
  const { intervalMs, dormantIntervalMs } = file.settings.polling;
  const longestMs = 1.1 * Math.max(intervalMs, dormantIntervalMs);
  return 3 * longestMs + 8 * plan.tracker.slowestMs + 10_000;
}
