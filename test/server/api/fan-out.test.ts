import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/clock/clock.ts';
import { FanOut } from '../../../src/server/api/stream/fan-out.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { runs } from '../../property-runs.ts';

/** A clock on which each text that is handed out takes some time. */
function slowHand(clock: SimulatedClock, handMs: number) {
  const heard = new Map<number, string[]>();
  let spentMs = 0;
  const working: Clock = {
    now: () => clock.now() + spentMs,
    monotonic: () => clock.monotonic() + spentMs,
    schedule: (delayMs, action) => clock.schedule(delayMs, action),
  };
  let handed = 0;
  const rounds = new FanOut<number>(working, (taker, text) => {
    spentMs += handMs;
    handed += 1;
    heard.set(taker, [...(heard.get(taker) ?? []), text]);
  });
  return { rounds, heard, handed: () => handed };
}

describe('FanOut', () => {
  it('sends each receiver its texts in the order in which they were added', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ takers: fc.uniqueArray(fc.nat(20)), waitMs: fc.nat(10) }), { maxLength: 15 }),
        fc.double({ min: 0, max: 5, noNaN: true }),
        async (adds, handMs) => {
          const clock = new SimulatedClock();
          const { rounds, heard } = slowHand(clock, handMs);
          const expected = new Map<number, string[]>();
          for (const [at, { takers, waitMs }] of adds.entries()) {
            rounds.add(`text ${at}`, takers);
            for (const taker of takers) expected.set(taker, [...(expected.get(taker) ?? []), `text ${at}`]);
            await clock.advance(waitMs);
          }
          await clock.advance(10_000);
          expect(rounds.isBusy).toBe(false);
          expect(heard).toEqual(expected);
        },
      ),
      { numRuns: runs(100) },
    );
  });

  // @conforms api.32
  it('yields to other work after a slice, however many receivers there are', async () => {
    const clock = new SimulatedClock();
    const { rounds, handed } = slowHand(clock, 1);
    rounds.add(
      'text',
      Array.from({ length: 500 }, (_, at) => at),
    );
    expect(handed()).toBeGreaterThan(0);
    expect(handed()).toBeLessThan(10);
    expect(rounds.isBusy).toBe(true);
  });

  it('sends nothing after it is closed', async () => {
    const clock = new SimulatedClock();
    const { rounds, handed } = slowHand(clock, 1);
    rounds.add(
      'text',
      Array.from({ length: 500 }, (_, at) => at),
    );
    const before = handed();
    rounds.close();
    await clock.advance(10_000);
    expect(handed()).toBe(before);
  });
});
