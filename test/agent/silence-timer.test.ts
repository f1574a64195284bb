import { describe, expect, it } from 'vitest';
import { SilenceTimer } from '../../src/agent/silence-timer.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';

function silence(limitMs: number) {
  const clock = new SimulatedClock();
  const heard: number[] = [];
  const timer = new SilenceTimer(clock, limitMs, () => heard.push(clock.monotonic()));
  return { clock, heard, timer };
}

describe('the silence timer', () => {
  it('reports silence once, when the limit after the last sound has passed', async () => {
    const { clock, heard, timer } = silence(1_000);
    await clock.advance(900);
    timer.touch();
    await clock.advance(5_000);
    expect(heard).toEqual([1_900]);
  });

  it('does not count a pause, and starts counting again after it', async () => {
    const { clock, heard, timer } = silence(1_000);
    await clock.advance(500);
    const goOn = timer.pause();
    await clock.advance(60_000);
    expect(heard).toEqual([]);
    goOn();
    await clock.advance(5_000);
    expect(heard).toEqual([61_500]);
  });

  it('is paused while one of several pauses lasts, and ending one twice does not end another', async () => {
    const { clock, heard, timer } = silence(1_000);
    const [first, second] = [timer.pause(), timer.pause()];
    first();
    first();
    await clock.advance(10_000);
    expect(heard).toEqual([]);
    second();
    await clock.advance(1_000);
    expect(heard).toEqual([11_000]);
  });

  it('reports nothing after it was cancelled, paused or not', async () => {
    const { clock, heard, timer } = silence(1_000);
    const goOn = timer.pause();
    await clock.advance(3_000);
    timer.cancel();
    goOn();
    await clock.advance(10_000);
    expect(heard).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});
