import type { World } from '../world.ts';

/**
 * How long a healthy daemon may take to notice a change: two polls at the longest interval of this seed and a pause after one
 * that failed, jitter included, each with a few of the slowest answers of the tracker, and its own moves.
 */
export function knowledgeLagMs({ plan, file }: World): number {
  const { intervalMs, dormantIntervalMs } = file.settings.polling;
  const longestMs = 1.1 * Math.max(intervalMs, dormantIntervalMs);
  return 3 * longestMs + 8 * plan.tracker.slowestMs + 10_000;
}
