// @module-tag full
import { describe, expect, it } from 'vitest';
import { beginDay, type Day, minute, second } from './day.ts';
import { openIssues } from './people.ts';

const issues = 50;

interface Drained {
  readonly day: Day;
  readonly causes: Record<string, number>;
  readonly tookMs: number;
}

/** Fifty issues for ten slots. Each agent needs its own time, and moves its issue itself, without Baton. */
async function drained(
  intervalMs: number,
  turnOf = (nth: number): number => 150 + ((nth * 37) % 100),
): Promise<Drained> {
  let day: Day | null = null;
  const work = (identifier: string) => {
    const turnMs = turnOf(Number(identifier.split('-')[1]));
    day?.clock.schedule(turnMs - 1, () => void day?.linear.updateIssue(identifier, { state: 'Done' }));
    return { turnMs, movesTo: null, isSilent: true };
  };
  day = await beginDay({ file: { polling: { interval_ms: intervalMs }, agent: { max_concurrent_agents: 10 } }, work });
  for (let nth = 0; nth < issues; nth += 1) day.linear.addIssue();
  day.orchestrator.refresh();
  const began = day.clock.now();
  for (let step = 0; step < 1_000 && day.ends.length < issues; step += 1) await day.clock.advance(20);
  const tookMs = day.clock.now() - began;
  await day.clock.advance(500);
  await day.orchestrator.stop();
  // The last requests are counted.
  await day.clock.advance(500);
  return { day, causes: { ...(await day.counted()) }, tookMs };
}

describe('the requests of a drain of fifty issues with ten slots', { timeout: 60_000 }, () => {
  it.each([
    { intervalMs: second, most: 20 },
    { intervalMs: 30 * second, most: 12 },
    { intervalMs: 10 * minute, most: 12 },
  ])('are at most $most at a poll every $intervalMs ms', async ({ intervalMs, most }) => {
    const { day, causes } = await drained(intervalMs);
    expect(openIssues(day)).toEqual([]);
    expect(day.ends).toHaveLength(issues);
    expect(await day.requests()).toBeLessThanOrEqual(most);
    // Turns that end together share a read, which takes along the issues that start next.
    expect(causes.turn ?? 0).toBeGreaterThan(0);
    expect(causes.revalidation ?? 0).toBeLessThanOrEqual(1);
  });
});

describe('a drain of fifty issues with ten slots', { timeout: 60_000 }, () => {
  it('waits for no other turn where every agent has ended its own', async () => {
    const { day, tookMs } = await drained(30 * second, () => 200);
    expect(day.ends).toHaveLength(issues);
    // Five times ten turns, and no wait for a turn that cannot end between them.
    expect(tookMs).toBeLessThan(5 * (200 + 100));
  });
});
