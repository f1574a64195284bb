// @module-tag full
import { describe, expect, it } from 'vitest';
import { beginDay, type Day, hour, midnight, minute, second, wholeDay } from './day.ts';

const limit = 500;
const file = {
  polling: { interval_ms: 30_000, budget: { requests_per_day: limit } },
  agent: { max_concurrent_agents: 1 },
};

const steps = {
  warned: 'requests_running_low',
  stretched: 'requests_stretched',
  essential_only: 'requests_essential_only',
};

function timesTold({ logger }: Day, message: string): number {
  return logger.events().filter((each) => each === message).length;
}

/** A person who sends commands until almost no requests are left. */
async function spendNearlyAll(day: Day): Promise<void> {
  for (let asked = 0; stepNow(day) !== 'essential_only'; asked += 1) {
    if (asked > limit) throw new Error(`${asked} polls were asked for, and it is still ${stepNow(day)}`);
    day.orchestrator.wake();
    await day.clock.advance(5 * second);
  }
}

function stepNow({ orchestrator }: Day): string {
  return orchestrator.read().polling.pressure.step;
}

/** Near midnight, but with enough time for the test before it. */
const evening = midnight + 20 * hour;

const longWork = () => ({ turnMs: 30 * hour, movesTo: null });

describe('a budget of 500 requests a day at a poll every 30 seconds', { timeout: 180_000 }, () => {
  // @conforms requests.11
  it('is never exceeded, lasts until midnight, is reported step by step, and starts again the next day', async () => {
    const day = await beginDay({ file });
    await day.clock.advance(wholeDay - 1);
    const first = await day.requests();
    expect(first).toBeLessThanOrEqual(limit);
    // Polls continue for the rest of the day.
    expect(day.sentSince(midnight + wholeDay - hour).length).toBeGreaterThan(0);
    for (const step of ['warned', 'stretched'] as const) expect(timesTold(day, steps[step])).toBe(1);
    await day.clock.advance(hour);
    const sent = day.sentSince(midnight + wholeDay).length;
    expect(sent).toBeGreaterThanOrEqual(119);
    expect(sent).toBeLessThanOrEqual(121);
    await day.orchestrator.stop();
  });

  // @conforms requests.12
  it('keeps a tenth for live runs: a run stops when its issue is closed, and new issues wait with a reason', async () => {
    const day = await beginDay({ file, work: longWork, startAt: evening });
    day.linear.addIssue();
    await day.clock.advance(minute);
    // Known, and without a slot.
    day.linear.addIssue();
    await day.clock.advance(minute);
    await spendNearlyAll(day);
    for (const told of Object.values(steps)) expect(timesTold(day, told)).toBe(1);
    expect(await day.requests()).toBeLessThanOrEqual((limit * 95) / 100);
    // Not known.
    day.linear.addIssue();
    await day.clock.advance(5 * minute);
    expect(day.ends).toEqual([]);
    day.linear.updateIssue('BAT-1', { state: 'Done' });
    // The rest, for essential requests, is spread until midnight: the next read is more than a minute away, but it comes.
    await day.clock.advance(30 * minute);
    expect(day.ends.map(({ identifier }) => identifier)).toEqual(['BAT-1']);
    await day.clock.advance(hour);
    expect(day.starts.map(({ identifier }) => identifier)).toEqual(['BAT-1']);
    const { skipped, polling } = day.orchestrator.read();
    const waiting = skipped.find(({ issue }) => issue.identifier === 'BAT-2');
    expect(waiting?.reason).toMatchObject({ code: 'no_requests' });
    for (const text of [waiting?.reason.text, polling.pressure.text]) {
      expect(text).toContain('requests_per_day');
      expect(text).toContain(`${limit}`);
    }
    // Nothing runs, so no request is sent until midnight.
    const before = await day.requests();
    await day.clock.advance(midnight + wholeDay - day.clock.now() - 1);
    expect(await day.requests()).toBe(before);
    expect(before).toBeLessThanOrEqual(limit);
    await day.clock.advance(minute);
    expect(day.starts.map(({ identifier }) => identifier)).toEqual(['BAT-1', 'BAT-2']);
    await day.orchestrator.stop();
  });

  it('is not exceeded by essential requests of a run in progress', async () => {
    const day = await beginDay({ file, work: longWork, startAt: evening });
    day.linear.addIssue();
    await day.clock.advance(minute);
    await spendNearlyAll(day);
    await day.clock.advance(midnight + wholeDay - day.clock.now() - 1);
    expect(await day.requests()).toBeLessThanOrEqual(limit);
    await day.orchestrator.stop();
  });

  // @conforms requests.13
  it('survives a restart', async () => {
    const life = await beginDay({ file, startAt: evening });
    await life.clock.advance(minute);
    await spendNearlyAll(life);
    await life.orchestrator.stop();
    const before = await life.requests();
    const next = await beginDay({ file, after: life });
    await next.clock.advance(hour);
    expect(stepNow(next)).toBe('essential_only');
    expect(await next.requests()).toBe(before);
    for (let asked = 0; asked < limit; asked += 1) {
      next.orchestrator.wake();
      await next.clock.advance(second);
    }
    expect(await next.requests()).toBe(before);
    await next.clock.advance(midnight + wholeDay - next.clock.now() + minute);
    expect(await next.requests()).toBeGreaterThan(before);
    await next.orchestrator.stop();
  });
});

describe('a refusal with a reset time', { timeout: 60_000 }, () => {
  const refusals = {
    'a 429 that announces its reset': (resetAt: number) => ({ kind: 'rate_limit', status: 429, resetAt }) as const,
    "Linear's own 400 that announces it": (resetAt: number) => ({ kind: 'rate_limit', status: 400, resetAt }) as const,
    'a 429 with Retry-After': (resetAt: number, now: number) =>
      ({ kind: 'rate_limit', status: 429, retryAfterSeconds: (resetAt - now) / second }) as const,
  };

  for (const [what, refusal] of Object.entries(refusals)) {
    it(`is obeyed to the second, also by runs and retries: ${what}`, async () => {
      const work = () => ({ turnMs: 10 * minute, movesTo: 'Done' });
      const day = await beginDay({ file: { polling: { interval_ms: 30_000 } }, work });
      day.linear.addIssue();
      await day.clock.advance(5 * minute + 7 * second);
      day.linear.addIssue();
      const resetAt = day.clock.now() + 37 * minute;
      day.linear.faults.next.push(refusal(resetAt, day.clock.now()));
      // The next request is refused; then the turn of the run ends, and it wants to move its issue.
      await day.clock.advance(36 * minute);
      const refusedAt = day.linear.requests.find(({ status }) => status === 429 || status === 400)?.at ?? 0;
      expect(refusedAt).toBeGreaterThan(0);
      const opensAt = what.includes('Retry-After') ? refusedAt + 37 * minute : resetAt;
      await day.clock.advance(2 * minute);
      const next = day.sentSince(refusedAt + 1)[0]?.at ?? Number.POSITIVE_INFINITY;
      expect(next).toBeGreaterThanOrEqual(opensAt);
      // Polls are spread by a tenth of their interval.
      expect(next).toBeLessThanOrEqual(opensAt + 3 * second);
      // Afterwards everything continues.
      await day.clock.advance(30 * minute);
      expect(day.starts.map(({ identifier }) => identifier)).toContain('BAT-2');
      expect([day.linear.stateOf('BAT-1'), day.linear.stateOf('BAT-2')]).toEqual(['Done', 'Done']);
      await day.requests();
      await day.orchestrator.stop();
    });
  }
});
