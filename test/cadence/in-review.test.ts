// @module-tag full
import { describe, expect, it } from 'vitest';
import { beginDay, type Day, hour, minute, second } from './day.ts';

const file = (agent: Readonly<Record<string, unknown>>) => ({
  tracker: { review_states: ['In Review'] },
  agent: { max_concurrent_agents: 1, ...agent },
});

const work = () => ({ turnMs: 2 * minute, movesTo: 'In Review' });

async function withIssues(count: number, agent: Readonly<Record<string, unknown>>): Promise<Day> {
  const day = await beginDay({ file: file(agent), work });
  for (let nth = 0; nth < count; nth += 1) day.linear.addIssue();
  return day;
}

const started = ({ starts }: Day): string[] => starts.map(({ identifier }) => identifier);

describe('agent.max_in_review', { timeout: 60_000 }, () => {
  it('starts nothing new while review is full, with the reason, and one issue for each that leaves', async () => {
    const day = await withIssues(2, { max_in_review: 2 });
    await day.clock.advance(10 * minute);
    day.linear.addIssue();
    day.linear.addIssue();
    await day.clock.advance(10 * minute);
    expect(started(day)).toEqual(['BAT-1', 'BAT-2']);
    const reason = { code: 'max_in_review', text: expect.stringContaining('agent.max_in_review') };
    expect(day.orchestrator.read().skipped.map((each) => each.reason)).toMatchObject([reason, reason]);
    day.linear.updateIssue('BAT-1', { state: 'Done' });
    await day.clock.advance(34 * second);
    expect(started(day)).toEqual(['BAT-1', 'BAT-2', 'BAT-3']);
    await day.orchestrator.stop();
  });

  it('counts an issue that a run just moved there before the next run starts', async () => {
    const day = await withIssues(4, { max_in_review: 2 });
    await day.clock.advance(20 * minute);
    await day.orchestrator.stop();
    expect(started(day)).toEqual(['BAT-1', 'BAT-2']);
  });

  it('is counted from the regular poll, without extra requests', async () => {
    const askedWith = async (agent: Readonly<Record<string, unknown>>) => {
      const day = await withIssues(2, agent);
      await day.clock.advance(60 * minute);
      expect(started(day)).toEqual(['BAT-1', 'BAT-2']);
      await day.requests();
      await day.orchestrator.stop();
      return day.counted();
    };
    // An issue that a poll lists needs no read by id, so more states in a poll never cause more reads.
    const { retry: looks = 0, ...others } = await askedWith({ max_in_review: 2 });
    const { retry: looksWithout = 0, ...othersWithout } = await askedWith({});
    expect(others).toEqual(othersWithout);
    expect(looks).toBeLessThanOrEqual(looksWithout);
  });
});

describe('an issue that a person closes after its review', { timeout: 60_000 }, () => {
  const polling = { mode: 'adaptive' };

  // @conforms api.38
  it('is noticed by the next poll, even when dormant, without extra requests', async () => {
    const day = await beginDay({ file: { ...file({}), polling }, work });
    const { identifier, title } = day.linear.addIssue();
    await day.clock.advance(3 * hour);
    const before = await day.counted();
    day.linear.updateIssue(identifier, { state: 'Done' });
    const closedAt = day.clock.now();
    await day.clock.advance(10 * minute);
    const { completed } = day.orchestrator.read();
    expect(completed).toMatchObject([{ issue: { identifier, title }, state: 'Done' }]);
    expect((completed[0]?.at ?? 0) - closedAt).toBeLessThanOrEqual(5 * minute + 30 * second);
    expect(day.sentSince(closedAt).filter(({ at }) => at <= (completed[0]?.at ?? 0))).toHaveLength(1);
    await day.requests();
    await day.orchestrator.stop();
    const { poll: _polls, sweep: _sweep, ...others } = await day.counted();
    const { poll: _pollsBefore, sweep: _sweepBefore, ...othersBefore } = before;
    expect(others).toEqual(othersBefore);
  });

  it('causes no requests except polls while twenty issues wait for review, and each closed one is noticed', async () => {
    const many = 20;
    const day = await beginDay({ file: { ...file({ max_concurrent_agents: 5 }), polling }, work });
    for (let nth = 0; nth < many; nth += 1) day.linear.addIssue();
    await day.clock.advance(4 * hour);
    expect(day.ends).toHaveLength(many);
    const before = await day.counted();
    await day.clock.advance(6 * hour);
    const after = await day.counted();
    expect({ ...after, poll: 0 }).toEqual({ ...before, poll: 0 });
    // One every five minutes.
    expect((after.poll ?? 0) - (before.poll ?? 0)).toBeLessThanOrEqual(73);
    for (const { identifier } of day.ends) day.linear.updateIssue(identifier, { state: 'Done' });
    await day.clock.advance(10 * minute);
    const named = day.orchestrator.read().completed.map(({ issue: { identifier } }) => identifier);
    expect(named.toSorted()).toEqual(day.ends.map(({ identifier }) => identifier).toSorted());
    const { poll: _polls, sweep: _sweep, ...others } = await day.counted();
    const { poll: _pollsBefore, sweep: _sweepBefore, ...othersBefore } = before;
    expect(others).toEqual(othersBefore);
    await day.orchestrator.stop();
  });
});
