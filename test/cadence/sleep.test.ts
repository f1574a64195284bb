// @module-tag full
import { describe, expect, it } from 'vitest';
import { beginDay, type Day, hour, midnight, minute, second } from './day.ts';
import { initialFile } from './initial-file.ts';
import type { SleepyClock } from './sleepy-clock.ts';

const kinds: Readonly<Record<string, (clock: SleepyClock, ms: number) => void>> = {
  'whose timers stopped': (clock, ms) => clock.sleepStill(ms),
  'whose timers are all late': (clock, ms) => clock.sleepLate(ms),
};

const files: Readonly<Record<string, Parameters<typeof beginDay>[0]>> = {
  'every 30 seconds': { file: {} },
  'adaptively, as set by baton init': { file: initialFile() },
};

/** The number of requests sent within this time. */
async function sentWithin(day: Day, ms: number): Promise<number> {
  const from = day.clock.now();
  await day.clock.advance(ms);
  return day.sentSince(from).length;
}

describe('a laptop that slept for eight hours', { timeout: 60_000 }, () => {
  for (const [kind, sleep] of Object.entries(kinds)) {
    for (const [pace, options] of Object.entries(files)) {
      // @conforms cadence.17
      it(`and ${kind} polls once on waking when it polls ${pace}`, async () => {
        const day = await beginDay({ ...options, startAt: midnight + 18 * hour });
        await day.clock.advance(2 * hour + 11 * second);
        sleep(day.clock, 8 * hour);
        const { intervalMs } = day.orchestrator.read().polling;
        // A tick notices it within seconds.
        expect(await sentWithin(day, 6 * second)).toBe(1);
        // Then the usual pace; missed polls are not repeated, and at most one is in progress.
        expect(await sentWithin(day, intervalMs - 10 * second)).toBeLessThanOrEqual(1);
        expect(await sentWithin(day, 10 * intervalMs)).toBeLessThanOrEqual(11);
        await day.requests();
        await day.orchestrator.stop();
      });
    }

    it(`and ${kind} checks its run first, then starts the issue that was filed meanwhile`, async () => {
      const work = (identifier: string) =>
        identifier === 'BAT-1' ? { turnMs: 30 * hour, movesTo: null } : { turnMs: minute, movesTo: 'Done' };
      const day = await beginDay({
        file: { polling: { mode: 'adaptive' }, agent: { max_concurrent_agents: 1 } },
        work,
      });
      day.linear.addIssue();
      await day.clock.advance(2 * minute);
      sleep(day.clock, 8 * hour);
      day.linear.updateIssue('BAT-1', { state: 'Done' });
      day.linear.addIssue();
      await day.clock.advance(6 * second);
      expect(day.ends.map(({ identifier }) => identifier)).toEqual(['BAT-1']);
      expect(day.starts.map(({ identifier }) => identifier)).toEqual(['BAT-1', 'BAT-2']);
      await day.orchestrator.stop();
    });
  }
});
