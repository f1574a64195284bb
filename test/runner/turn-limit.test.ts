import { describe, expect, it } from 'vitest';
import { TurnLimit } from '../../src/runner/turn-limit.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';

describe('the limit of a turn', () => {
  it('ends the turn at its time, and starts again with the next turn', async () => {
    const clock = new SimulatedClock();
    const limit = new TurnLimit(clock, 1_000);
    const first = limit.begin();
    await clock.advance(999);
    expect(first.aborted).toBe(false);
    limit.end();
    const second = limit.begin();
    await clock.advance(999);
    expect([first.aborted, second.aborted]).toEqual([false, false]);
    await clock.advance(1);
    expect([first.aborted, second.aborted]).toEqual([false, true]);
  });

  it('does not count the time in which people are asked', async () => {
    const clock = new SimulatedClock();
    const limit = new TurnLimit(clock, 1_000);
    const signal = limit.begin();
    await clock.advance(600);
    const [one, other] = [limit.pause(), limit.pause()];
    await clock.advance(60_000);
    one();
    one();
    await clock.advance(60_000);
    other();
    await clock.advance(399);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.aborted).toBe(true);
  });

  it('does nothing at 0, and leaves no timer behind', async () => {
    const clock = new SimulatedClock();
    const limit = new TurnLimit(clock, 0);
    const signal = limit.begin();
    limit.pause()();
    await clock.advance(10 ** 9);
    limit.end();
    expect([signal.aborted, clock.pending]).toEqual([false, 0]);
    const other = new TurnLimit(clock, 5);
    other.begin();
    other.end();
    expect(clock.pending).toBe(0);
  });
});
