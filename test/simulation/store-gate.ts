import { sleep } from '../../src/clock/clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import type { StoreGate } from './guard-store.ts';
import type { Incarnation } from './incarnation.ts';
import type { World } from './world.ts';

/** The store faults of one incarnation: a full disk, a store out of reach, slow answers and lost answers. */
export function storeGate(world: World, incarnation: Incarnation): StoreGate {
  const { draw, plan, weather } = world;
  return {
    before: (isWrite) => {
      if (world.isCalm) return null;
      if (weather.storeFull && isWrite) {
        world.count('store full');
        return Promise.reject(new BatonError('store_full', 'The simulated disk is full.'));
      }
      const lost = weather.storeLost.get(incarnation.daemon);
      if (lost !== undefined) return lostStore(world, incarnation, lost);
      return plan.store.slow > 0 && draw.store.chance(plan.store.slow)
        ? sleep(incarnation.clock, draw.store.logBetween(1, 2_000))
        : null;
    },
    failed: (name) => void world.failedCalls.set(`${incarnation.name} ${name}`, world.now),
    after: (isWrite) => {
      if (world.isCalm || !isWrite || plan.store.answersLost === 0) return;
      if (!draw.store.chance(plan.store.answersLost)) return;
      world.count('store answer lost');
      throw unreachable();
    },
  };
}

/** The call fails at once, or hangs until the store is back; then it fails, or is carried out late. */
async function lostStore(world: World, incarnation: Incarnation, how: 'hangs' | 'fails'): Promise<void> {
  world.count('store lost');
  if (how === 'fails') throw unreachable();
  while (world.weather.storeLost.has(incarnation.daemon)) await sleep(incarnation.clock, 1_000);
  if (world.draw.store.chance(0.5)) throw unreachable();
}

function unreachable(): BatonError {
  return new BatonError('store_unavailable', 'The simulated store cannot be reached.');
}
