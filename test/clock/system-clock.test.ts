import { expect, it } from 'vitest';
import { sleep } from '../../src/clock/clock.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';

it('waits at least the given delay, and monotonic time never falls', async () => {
  const before = systemClock.monotonic();
  await sleep(systemClock, 30);
  expect(systemClock.monotonic() - before).toBeGreaterThanOrEqual(29);
});

it('does not fire at once for a delay of more than 31 bits', async () => {
  const timer = systemClock.schedule(2 ** 31 + 5, () => expect.fail('three weeks are not over'));
  await sleep(systemClock, 30);
  timer.cancel();
});

it('makes unique ids that are usable as file names', () => {
  const ids = new Set(Array.from({ length: 1_000 }, () => systemChance.id()));
  expect(ids.size).toBe(1_000);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/);
});
