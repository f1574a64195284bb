// @module-tag full
import { describe, expect, it } from 'vitest';
import { beginDay, type Day, hour, midnight, minute, second } from './day.ts';
import { initialFile } from './initial-file.ts';
import { beAtWork } from './people.ts';

/** Three in the morning; Baton started at midnight. */
async function atThree(options: Parameters<typeof beginDay>[0] = {}): Promise<Day> {
  const day = await beginDay({ file: initialFile(), startAt: midnight + 2 * hour, ...options });
  await day.clock.advance(hour);
  expect(day.orchestrator.read().polling.mode).toBe('quiet');
  return day;
}

describe('in quiet hours', { timeout: 60_000 }, () => {
  it('activity does not speed up polling', async () => {
    const day = await atThree();
    beAtWork(day, hour);
    day.clock.schedule(20 * minute, () => void day.linear.addIssue({ state: 'Backlog' }));
    await day.clock.advance(hour);
    const sent = day.sentSince(midnight + 3 * hour).length;
    expect(sent).toBeGreaterThanOrEqual(11);
    expect(sent).toBeLessThanOrEqual(13);
    await day.orchestrator.stop();
  });

  it('an issue that a poll finds starts, and does not speed up polling', async () => {
    const day = await atThree();
    day.linear.addIssue();
    await day.clock.advance(5 * minute + 30 * second);
    expect(day.starts.map(({ identifier }) => identifier)).toEqual(['BAT-1']);
    await day.clock.advance(hour - 5 * minute - 30 * second);
    const { poll } = await day.counted();
    expect(poll).toBeLessThanOrEqual(26);
    await day.orchestrator.stop();
  });

  it('a command by a person causes exactly one poll, at once', async () => {
    const day = await atThree();
    await day.clock.advance(2 * minute);
    const from = day.clock.now();
    day.orchestrator.wake();
    await day.clock.advance(second);
    expect(day.sentSince(from)).toHaveLength(1);
    await day.clock.advance(4 * minute);
    expect(day.sentSince(from)).toHaveLength(1);
    await day.orchestrator.stop();
  });

  it('a stalled run is stopped, and an exit is handled, within seconds', async () => {
    const work = (identifier: string) =>
      identifier === 'BAT-1'
        ? { turnMs: 10 * hour, movesTo: null, isSilent: true }
        : { turnMs: 47 * minute, movesTo: 'Done' };
    const day = await beginDay({ file: initialFile(), startAt: midnight + 2 * hour + 50 * minute, work });
    day.linear.addIssue();
    day.linear.addIssue();
    await day.clock.advance(second);
    expect(day.starts).toHaveLength(2);
    const [{ at: startedAt } = { at: 0 }] = day.starts;
    // By default five minutes of silence are a stall.
    await day.clock.advance(5 * minute + 10 * second);
    const [stalled] = day.ends;
    expect(stalled?.identifier).toBe('BAT-1');
    expect((stalled?.at ?? 0) - startedAt).toBeLessThanOrEqual(5 * minute + 5 * second);
    await day.clock.advanceUntil(() => day.ends.some(({ identifier }) => identifier === 'BAT-2'), hour);
    await day.clock.advance(2 * second);
    expect(day.orchestrator.read().completed).toMatchObject([{ issue: { identifier: 'BAT-2' } }]);
    expect(day.orchestrator.read().polling.mode).toBe('quiet');
    await day.orchestrator.stop();
  });

  const nights = [
    { night: 'an ordinary one', from: Date.UTC(2026, 5, 9, 22), hours: 7 },
    { night: 'that of spring, which is an hour shorter', from: Date.UTC(2026, 2, 28, 23), hours: 6 },
    { night: 'that of autumn, which is an hour longer', from: Date.UTC(2026, 9, 24, 22), hours: 8 },
  ];
  for (const { night, from, hours } of nights) {
    // @conforms cadence.18
    it(`a night in Berlin polls by local time: ${night}`, async () => {
      const day = await beginDay({ file: initialFile('Europe/Berlin'), startAt: from - 30 * minute });
      // Someone works through the night, and polls do not get faster before the morning.
      beAtWork(day, hours * hour + 2 * hour);
      await day.clock.advance(30 * minute + hours * hour);
      const polls = day.sentSince(from).length;
      expect(polls).toBeGreaterThanOrEqual(hours * 12 - 1);
      expect(polls).toBeLessThanOrEqual(hours * 12 + 1);
      await day.clock.advance(10 * minute);
      const morning = day.sentSince(from + hours * hour).length;
      expect(morning).toBeGreaterThanOrEqual(39);
      expect(morning).toBeLessThanOrEqual(42);
      expect(Math.abs((day.modes().quiet ?? 0) - hours * hour)).toBeLessThanOrEqual(10 * second);
      await day.orchestrator.stop();
    });
  }
});
