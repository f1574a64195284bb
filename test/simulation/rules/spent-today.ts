import { utcDay } from '../../../src/core/cadence/utc-day.ts';
import type { World } from '../world.ts';

/** The usage that counts for the limit of the day by the world's wall clock: from the store, runs in progress included. */
export function spentToday({ memory, clock }: World): number {
  const day = utcDay(clock.now());
  const [spent] = memory.look<{ tokens: number }>(tokensOfDay, day, `tokens ${day}`);
  return spent?.tokens ?? 0;
}

const tokensOfDay = `
  select (select coalesce(sum(total_tokens), 0) from usage where day = ?)
    + (select coalesce(sum(total_tokens), 0) from runs where ended_at is null)
    - (select coalesce(sum(value), 0) from counters where name = ?) as tokens`;
