import { describe, expect, it } from 'vitest';
import { beginDay, type Day, minute, second } from './day.ts';

const file = (agent: Readonly<Record<string, unknown>>) => ({
  tracker: { review_states: ['In Review'] },
  agent: { max_concurrent_agents: 1, ...agent },
});

const work = () => ({ turnMs: 2 * minute, movesTo: 'In Review' });

async function withTickets(count: number, agent: Readonly<Record<string, unknown>>): Promise<Day> {
  const day = await beginDay({ file: file(agent), work });
  for (let nth = 0; nth < count; nth += 1) day.linear.addIssue();
  return day;
}

const started = ({ starts }: Day): string[] => starts.map(({ identifier }) => identifier);

describe('agent.max_in_review', { timeout: 60_000 }, () => {
  it('holds back what is new while review is full, with the reason, and lets one go for each that leaves', async () => {
    const day = await withTickets(2, { max_in_review: 2 });
    await day.clock.advance(10 * minute);
    day.linear.addIssue();
    day.linear.addIssue();
    await day.clock.advance(10 * minute);
    expect(started(day)).toEqual(['BAT-1', 'BAT-2']);
    const reason = { code: 'max_in_review', text: '2 issues wait for review; agent.max_in_review is 2' };
    expect(day.orchestrator.read().skipped.map((each) => each.reason)).toEqual([reason, reason]);
    day.linear.updateIssue('BAT-1', { state: 'Done' });
    await day.clock.advance(34 * second);
    expect(started(day)).toEqual(['BAT-1', 'BAT-2', 'BAT-3']);
    await day.orchestrator.stop();
  });

  it('counts what a run has just moved there before the next one starts', async () => {
    const day = await withTickets(4, { max_in_review: 2 });
    await day.clock.advance(20 * minute);
    await day.orchestrator.stop();
    expect(started(day)).toEqual(['BAT-1', 'BAT-2']);
  });

  it('is counted from the poll that is made anyway: the same requests with it and without', async () => {
    const askedWith = async (agent: Readonly<Record<string, unknown>>) => {
      const day = await withTickets(2, agent);
      await day.clock.advance(60 * minute);
      expect(started(day)).toEqual(['BAT-1', 'BAT-2']);
      await day.requests();
      await day.orchestrator.stop();
      return day.counted();
    };
    // What a poll lists, or gives back, a look need not ask for: with more states in the poll there are never more looks.
    const { retry: looks = 0, ...others } = await askedWith({ max_in_review: 2 });
    const { retry: looksWithout = 0, ...othersWithout } = await askedWith({});
    expect(others).toEqual(othersWithout);
    expect(looks).toBeLessThanOrEqual(looksWithout);
  });
});
