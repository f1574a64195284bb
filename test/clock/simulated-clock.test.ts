import { describe, expect, it } from 'vitest';
import { sleep, timedOut, within } from '../../src/clock/clock.ts';
import { seededChance } from '../fake/seeded-chance.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';

describe('the simulated clock', () => {
  it('stands still until a test advances it, and fires timers at their own times', async () => {
    const clock = new SimulatedClock({ startAt: 1_000 });
    const seen: [string, number][] = [];
    clock.schedule(20, () => seen.push(['b', clock.now()]));
    clock.schedule(10, () => seen.push(['a', clock.now()]));
    clock.schedule(31, () => seen.push(['late', clock.now()]));
    await clock.advance(30);
    expect(seen).toEqual([
      ['a', 1_010],
      ['b', 1_020],
    ]);
    expect(clock.now()).toBe(1_030);
    expect(clock.pending).toBe(1);
  });

  it('lets real async code run to its next wait before the next timer fires', async () => {
    const clock = new SimulatedClock();
    const seen: string[] = [];
    const worker = async (name: string, stepMs: number): Promise<void> => {
      for (let round = 1; round <= 3; round += 1) {
        await sleep(clock, stepMs);
        await Promise.resolve().then(() => Promise.resolve());
        seen.push(`${name}${round}@${clock.monotonic()}`);
      }
    };
    const both = Promise.all([worker('fast', 10), worker('slow', 25)]);
    await clock.advance(100);
    await both;
    expect(seen).toEqual(['fast1@10', 'fast2@20', 'slow1@25', 'fast3@30', 'slow2@50', 'slow3@75']);
  });

  it('fires a timer that another timer scheduled within the same advance', async () => {
    const clock = new SimulatedClock();
    let fired = 0;
    const again = (): void => {
      fired += 1;
      if (fired < 5) clock.schedule(10, again);
    };
    clock.schedule(10, again);
    await clock.advance(45);
    expect(fired).toBe(4);
  });

  it('does not fire a cancelled timer', async () => {
    const clock = new SimulatedClock();
    const timer = clock.schedule(10, () => expect.fail('it was cancelled'));
    timer.cancel();
    timer.cancel();
    await clock.advance(100);
  });

  it('never calls an action synchronously, even with a delay of zero', async () => {
    const clock = new SimulatedClock();
    let called = false;
    clock.schedule(-5, () => {
      called = true;
    });
    expect(called).toBe(false);
    await clock.advance(0);
    expect(called).toBe(true);
  });

  // @conforms process.1
  it('takes the order of simultaneous timers from its seed, so that the same seed repeats it', async () => {
    const orderOf = async (seed: number): Promise<string> => {
      const clock = new SimulatedClock({ seed });
      const seen: number[] = [];
      for (let index = 0; index < 8; index += 1) clock.schedule(5, () => seen.push(index));
      await clock.advance(5);
      return seen.join();
    };
    const orders = await Promise.all([1, 2, 3, 4].map(orderOf));
    expect(new Set(orders).size).toBeGreaterThan(1);
    expect(await Promise.all([1, 2, 3, 4].map(orderOf))).toEqual(orders);
  });

  it('advances until a condition holds, and reports when it never does', async () => {
    const clock = new SimulatedClock();
    let done = false;
    void sleep(clock, 50).then(() => {
      done = true;
    });
    expect(await clock.advanceUntil(() => done, 40)).toBe(false);
    expect(await clock.advanceUntil(() => done, 40)).toBe(true);
    expect(clock.monotonic()).toBe(50);
  });

  it('changes wall time without changing monotonic time', () => {
    const clock = new SimulatedClock({ startAt: 5_000 });
    clock.jumpWall(-2_000);
    expect(clock.now()).toBe(3_000);
    expect(clock.monotonic()).toBe(0);
  });
});

describe('sleep and within', () => {
  it('rejects with the reason of the signal and leaves no timer behind', async () => {
    const clock = new SimulatedClock();
    const controller = new AbortController();
    const waiting = sleep(clock, 1_000, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(sleep(clock, 1_000, controller.signal)).rejects.toThrow('enough');
    expect(clock.pending).toBe(0);
  });

  it('returns the outcome of the work, or timedOut when the time is up', async () => {
    const clock = new SimulatedClock();
    const quick = within(
      clock,
      100,
      sleep(clock, 50).then(() => 'done'),
    );
    const slow = within(
      clock,
      100,
      sleep(clock, 150).then(() => 'late'),
    );
    const broken = within(clock, 100, Promise.reject(new Error('broken')));
    await expect(broken).rejects.toThrow('broken');
    await clock.advance(200);
    expect([await quick, await slow]).toEqual(['done', timedOut]);
    expect(clock.pending).toBe(0);
  });
});

describe('seeded chance', () => {
  it('repeats the same numbers for the same seed and others for another seed', () => {
    const draw = (seed: number) => {
      const chance = seededChance(seed);
      return [chance.next(), chance.next(), chance.id(), chance.next()];
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  it('returns numbers from 0 to below 1, spread evenly', () => {
    const chance = seededChance(1);
    const tenths = new Array(10).fill(0);
    for (let round = 0; round < 10_000; round += 1) tenths[Math.floor(chance.next() * 10)] += 1;
    expect(Math.min(...tenths)).toBeGreaterThan(850);
    expect(Math.max(...tenths)).toBeLessThan(1_150);
  });
});
