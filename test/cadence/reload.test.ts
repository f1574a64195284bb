// @module-tag full
import { describe, expect, it } from 'vitest';
import { beginDay, type Day, type FileSections, hour, midnight, minute, second } from './day.ts';

async function sentWithin(day: Day, ms: number): Promise<number> {
  const from = day.clock.now();
  await day.clock.advance(ms);
  return day.sentSince(from).length;
}

function jobOf({ orchestrator }: Day, name: string) {
  return orchestrator.read().jobs.find((job) => job.name === name);
}

const polling = (section: Readonly<Record<string, unknown>>): FileSections => ({ polling: section });

describe('an edited workflow file', { timeout: 60_000 }, () => {
  it('changes the interval of a job at once, to a shorter and to a longer one', async () => {
    const day = await beginDay({ file: polling({ mode: 'adaptive' }) });
    await day.clock.advance(11 * minute);
    const looks = (): number => day.logger.events().filter((each) => each === 'store_maintained').length;
    expect(looks()).toBe(1);
    day.save(polling({ mode: 'adaptive', jobs: { store_maintenance: { interval_ms: 60_000 } } }));
    await day.clock.advance(second);
    // It ran a minute ago.
    expect(looks()).toBe(2);
    expect(jobOf(day, 'store_maintenance')?.intervalMs).toBe(minute);
    await day.clock.advance(10 * minute);
    expect(looks()).toBe(12);
    day.save(polling({ mode: 'adaptive', jobs: { store_maintenance: { interval_ms: 3_600_000 } } }));
    await day.clock.advance(30 * minute);
    expect(looks()).toBe(12);
    await day.clock.advance(31 * minute);
    expect(looks()).toBe(13);
    await day.orchestrator.stop();
  });

  // @conforms 1.4
  it('changes the mode at once, in both directions', async () => {
    const day = await beginDay({ file: polling({ interval_ms: 1_800_000 }) });
    await day.clock.advance(10 * minute);
    day.save(polling({ mode: 'adaptive', idle_after_ms: 24 * hour, dormant_after_ms: 48 * hour }));
    expect(await sentWithin(day, 5 * minute)).toBeGreaterThanOrEqual(20);
    expect(day.orchestrator.read().polling.mode).toBe('active');
    day.save(polling({ interval_ms: 1_800_000 }));
    // Perhaps the poll that the save caused.
    expect(await sentWithin(day, 25 * minute)).toBeLessThanOrEqual(1);
    expect(await sentWithin(day, 34 * minute)).toBeGreaterThanOrEqual(1);
    await day.orchestrator.stop();
  });

  it('polls the tracker at once, even if it slows down polling', async () => {
    const day = await beginDay();
    await day.clock.advance(10 * minute);
    day.save(polling({ interval_ms: 1_800_000 }));
    const sent = await sentWithin(day, 10 * second);
    await day.orchestrator.stop();
    expect(sent).toBe(1);
  });

  it('changes the intervals of a mode and the quiet hours at once', async () => {
    const day = await beginDay({ file: polling({ mode: 'adaptive' }), startAt: midnight + 12 * hour });
    await day.clock.advance(minute);
    day.save(polling({ mode: 'adaptive', active_interval_ms: 5_000 }));
    expect(await sentWithin(day, minute)).toBeGreaterThanOrEqual(11);
    day.save(polling({ mode: 'adaptive', quiet_hours: '11:00-13:00', time_zone: 'UTC' }));
    expect(await sentWithin(day, 4 * minute)).toBeLessThanOrEqual(1);
    expect(day.orchestrator.read().polling.mode).toBe('quiet');
    await day.orchestrator.stop();
  });

  it('changes the budget at once: a spent one stops all requests, a larger one allows them again', async () => {
    const day = await beginDay();
    await day.clock.advance(10 * minute);
    day.save(polling({ budget: { requests_per_day: 10 } }));
    expect(await sentWithin(day, 10 * minute)).toBe(0);
    expect(day.orchestrator.read().polling.pressure).toMatchObject({ step: 'closed' });
    day.save(polling({ budget: { requests_per_day: 1_000 } }));
    expect(await sentWithin(day, second)).toBe(1);
    // The last poll may begin up to three seconds later.
    expect([19, 20]).toContain(await sentWithin(day, 10 * minute));
    day.save(polling({ budget: { requests_per_hour: 10 } }));
    expect(await sentWithin(day, 10 * minute)).toBe(0);
    day.save({});
    expect(await sentWithin(day, 10 * minute)).toBeGreaterThanOrEqual(19);
    await day.requests();
    await day.orchestrator.stop();
  });
});
