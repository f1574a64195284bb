// @module-tag full
import { describe, expect, it } from 'vitest';
import type { Tracker } from '../../src/tracker/tracker.ts';
import { beginDay, type DayOptions, hour, minute, second, wholeDay } from './day.ts';
import { initialFile } from './initial-file.ts';
import { beAtWork, fileIssues, issuesPerDay, openIssues, usualWork } from './people.ts';

/*
 * The requests of a day, counted on the wire, by the fake Linear and in the store. The tight limits are measured values: a
 * feature that adds a request exceeds them, and its author explains the request here.
 */

/** A day on which nothing happens, counted from when Baton is dormant. */
async function dormantDay(options: DayOptions = {}): Promise<number> {
  const day = await beginDay({ file: { polling: { mode: 'adaptive' } }, ...options });
  await day.clock.advance(hour + minute);
  const before = await day.requests();
  const dormantBefore = day.modes().dormant ?? 0;
  await day.clock.advance(wholeDay);
  expect((day.modes().dormant ?? 0) - dormantBefore).toBe(wholeDay);
  const requests = (await day.requests()) - before;
  await day.orchestrator.stop();
  return requests;
}

describe('the requests of a day', { timeout: 180_000 }, () => {
  // @conforms 3.28
  it('eight hours active, eight idle and eight dormant with twenty issues cost at most 2,600', async () => {
    // Idle for eight hours: it starts ten minutes after the last activity, and dormant starts that much later.
    const polling = { mode: 'adaptive', dormant_after_ms: 8 * hour + 10 * minute };
    const day = await beginDay({ file: { polling }, work: usualWork });
    beAtWork(day, 7 * hour + 50 * minute);
    fileIssues(day, minute, 23 * minute);
    await day.clock.advance(wholeDay);
    const { active = 0, idle = 0, dormant = 0, ...others } = day.modes();
    for (const lasted of [active, idle, dormant]) expect(Math.abs(lasted - 8 * hour)).toBeLessThanOrEqual(10 * second);
    expect(others).toEqual({});
    expect(day.starts).toHaveLength(issuesPerDay);
    expect(openIssues(day)).toEqual([]);
    const { poll, ...more } = await day.counted();
    // One request per poll: 1,920 while active, 480 while idle, 96 while dormant.
    expect(poll).toBeLessThanOrEqual(2_500);
    // An issue that its run closes: the states of its team, the move, the read after the turn.
    // Each other issue: a read before its workspace is removed.
    const half = issuesPerDay / 2;
    expect(more).toEqual({ agent: 2 * half, turn: half, sweep: half });
    const requests = await day.requests();
    expect(requests).toBeLessThanOrEqual(2_550);
    expect(requests).toBeLessThanOrEqual(2_600);
    await day.orchestrator.stop();
  });

  it('an ordinary working day with the file of baton init and twenty issues costs at most 2,000', {
    tags: ['smoke'],
  }, async () => {
    const day = await beginDay({ file: initialFile(), work: usualWork });
    fileIssues(day, 9 * hour, 24 * minute);
    await day.clock.advance(wholeDay);
    expect(openIssues(day)).toEqual([]);
    expect(day.starts).toHaveLength(issuesPerDay);
    expect(day.modes()).toMatchObject({ quiet: 7 * hour });
    // Measured: 1,923. Six and a half hours of it are active.
    expect(await day.requests()).toBeLessThanOrEqual(1_930);
    await day.orchestrator.stop();
  });

  // @conforms 3.25
  it('a dormant day costs at most 300', async () => {
    const requests = await dormantDay();
    // One poll every five minutes: 288, and nothing else.
    expect(requests).toBeLessThanOrEqual(289);
    expect(requests).toBeGreaterThanOrEqual(287);
  });

  // @conforms cadence.15
  it('a dormant day with an issue in review that still has a workspace costs at most 300', async () => {
    const work = () => ({ turnMs: 5 * minute, movesTo: 'In Review' });
    const day = await beginDay({ file: { polling: { mode: 'adaptive' } }, work });
    day.linear.addIssue();
    await day.clock.advance(2 * hour);
    const before = await day.requests();
    await day.clock.advance(wholeDay);
    await day.orchestrator.stop();
    expect((await day.requests()) - before).toBeLessThanOrEqual(300);
  });

  // @conforms 1.5
  it('a day of polls every 30 seconds with nothing to do costs at most 2,900', async () => {
    const day = await beginDay({ file: {} });
    await day.clock.advance(wholeDay);
    expect(day.modes()).toEqual({ fixed: wholeDay });
    const requests = await day.requests();
    expect(requests).toBeLessThanOrEqual(2_881);
    expect(requests).toBeLessThanOrEqual(2_900);
    expect(requests).toBeGreaterThanOrEqual(2_879);
    await day.orchestrator.stop();
  });

  // @conforms F108
  it('one more request per poll exceeds the limit of a dormant day', async () => {
    const withOneMore = (tracker: Tracker): Tracker => ({
      ...tracker,
      fetchSnapshot: async (wish, ask) => {
        await tracker.fetchByStates(['Backlog'], ask);
        if (tracker.fetchSnapshot === undefined) throw new Error('the tracker has no snapshots');
        return tracker.fetchSnapshot(wish, ask);
      },
    });
    expect(await dormantDay({ through: withOneMore })).toBeGreaterThan(300);
  });
});

describe('the request counters', () => {
  // @conforms F108
  it('notice a request that bypasses the metered client', async () => {
    const day = await beginDay();
    await day.clock.advance(minute);
    expect(await day.requests()).toBe(2);
    await day.linear.handle({ method: 'POST', headers: { authorization: day.linear.apiKey }, body: '{}' });
    await expect(day.requests()).rejects.toThrow('do not agree');
    await day.orchestrator.stop();
  });
});
