// @module-tag full
import { beforeAll, describe, expect, it } from 'vitest';
import { beginDay, type Day, hour, midnight, minute, second, wholeDay } from './day.ts';
import { fileIssues, issuesPerDay, openIssues, usualWork } from './people.ts';
import type { Wire } from './wire.ts';

const downFrom = 10 * hour;
const downMs = 6 * hour;
const downUntil = midnight + downFrom + downMs;
/** The longest pause is the dormant interval plus jitter: a tenth, at most half a minute. */
const longestRestMs = 5 * minute + 30 * second;

interface Outage {
  begin(day: Day): void;
  end(day: Day): void;
}

const weather = (name: Wire['weather']): Outage => ({
  begin: ({ wire }) => {
    wire.weather = name;
  },
  end: ({ wire }) => {
    wire.weather = 'up';
  },
});

const outages: Readonly<Record<string, Outage>> = {
  'refuses connections': weather('refused'),
  'does not answer before the timeout': weather('hanging'),
  'answers with status 500': {
    begin: ({ linear }) => {
      linear.faults.always = { kind: 'status', status: 500 };
    },
    end: ({ linear }) => linear.faults.clear(),
  },
  'answers with garbage': {
    begin: ({ linear }) => {
      linear.faults.always = { kind: 'garbage' };
    },
    end: ({ linear }) => linear.faults.clear(),
  },
};

/** Twenty issues through the day, and the tracker gone for six hours in the middle of it, or not. */
async function playDay(polling: Readonly<Record<string, unknown>>, outage: Outage | null): Promise<Day> {
  const file = { polling, agent: { max_concurrent_agents: issuesPerDay } };
  const day = await beginDay({ file, work: usualWork });
  fileIssues(day, 8 * hour, 30 * minute);
  if (outage !== null) {
    day.clock.schedule(downFrom, () => outage.begin(day));
    day.clock.schedule(downFrom + downMs, () => outage.end(day));
  }
  await day.clock.advance(wholeDay);
  await day.orchestrator.stop();
  return day;
}

describe('while the tracker is down for six hours', { timeout: 180_000 }, () => {
  let requestsWhenUp = 0;
  beforeAll(async () => {
    requestsWhenUp = await (await playDay({ mode: 'adaptive' }, null)).requests();
  }, 180_000);

  for (const [what, outage] of Object.entries(outages)) {
    // @conforms F110
    it(`and ${what}, the day costs no more requests than an ordinary one, and nothing is lost`, async () => {
      const day = await playDay({ mode: 'adaptive' }, outage);
      expect(await day.requests()).toBeLessThanOrEqual(requestsWhenUp);
      // Every issue is done in the end, even if its run could not report it.
      expect(day.linear.records.issues.size).toBe(issuesPerDay);
      expect(openIssues(day)).toEqual([]);
      const filed = [...day.linear.records.issues.values()];
      const inOutage = filed.filter(({ createdAt }) => createdAt >= midnight + downFrom && createdAt < downUntil);
      expect(inOutage.length).toBeGreaterThan(10);
      const stillOpen = inOutage.filter(({ updatedAt }) => updatedAt > downUntil);
      expect(stillOpen.length).toBeGreaterThan(0);
      for (const { identifier } of stillOpen) {
        const startedAt = day.starts.find((start) => start.identifier === identifier)?.at ?? Number.POSITIVE_INFINITY;
        expect(startedAt).toBeGreaterThanOrEqual(downUntil);
        expect(startedAt).toBeLessThanOrEqual(downUntil + longestRestMs);
      }
    });
  }

  // @conforms cadence.16
  it('a run continues through the outage and stops afterwards if its issue was closed meanwhile', async () => {
    const work = () => ({ turnMs: 12 * hour, movesTo: null });
    const day = await beginDay({ file: { polling: { mode: 'adaptive' } }, work });
    day.linear.addIssue();
    await day.clock.advance(hour / 2);
    day.wire.weather = 'refused';
    await day.clock.advance(2 * hour);
    day.linear.updateIssue('BAT-1', { state: 'Done' });
    await day.clock.advance(hour);
    expect(day.ends).toEqual([]);
    day.wire.weather = 'up';
    await day.clock.advance(longestRestMs);
    expect(day.ends).toMatchObject([{ identifier: 'BAT-1' }]);
    await day.orchestrator.stop();
  });

  it('the fixed pace of 30 seconds slows down too', async () => {
    const day = await beginDay();
    await day.clock.advance(hour);
    day.wire.weather = 'refused';
    const before = await day.requests();
    await day.clock.advance(downMs);
    // At 30 seconds it would be 720.
    expect((await day.requests()) - before).toBeLessThanOrEqual(76);
    day.wire.weather = 'up';
    await day.clock.advance(longestRestMs);
    const afterwards = await day.requests();
    await day.clock.advance(10 * minute);
    expect((await day.requests()) - afterwards).toBe(20);
    await day.orchestrator.stop();
  });
});
