import type { World } from '../../world.ts';
import { knowledgeLagMs } from '../knowledge-lag.ts';

/** A pass over the pull requests comes every five seconds; the repository and the tracker may be slow in it. */
const passesMs = 60_000;

/** How long a healthy daemon may take to act on what happened to a change. */
export function reviewLagMs(world: World): number {
  return knowledgeLagMs(world) + passesMs;
}
