import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../src/agent/agent.ts';
import { thinEvents } from '../../src/runner/thin-events.ts';
import { telling } from '../telling.ts';

const event = (at: number, parts: Partial<AgentEvent> = {}): AgentEvent => ({
  name: 'notification',
  at,
  pid: 1,
  summary: 'y',
  ...parts,
});

function thinned(events: readonly AgentEvent[]): AgentEvent[] {
  const told: AgentEvent[] = [];
  const report = thinEvents((each) => told.push(each));
  for (const each of events) report(each);
  return told;
}

describe('the events of an agent', () => {
  it('are all passed on while a person could follow them', () => {
    const events = Array.from({ length: 10_000 }, (_, index) => event(index * 10));
    expect(thinned(events)).toEqual(events);
  });

  // @conforms X16
  it('are thinned out when they come very fast, and their number is reported', () => {
    const flood = Array.from({ length: 100_000 }, () => event(1_000));
    const told = thinned([...flood, event(2_000)]);
    expect(told).toHaveLength(502);
    expect(told.at(-2)).toMatchObject({ name: 'other_message', summary: telling(99_500) });
    expect(told.at(-1)).toEqual(event(2_000));
  });

  it('never lose turn ends, tool calls and running totals', () => {
    const usage = { inputTokens: 5, outputTokens: 5, totalTokens: 10 };
    const flood = Array.from({ length: 1_000 }, () => event(0));
    const told = thinned([...flood, event(0, { usage }), event(0, { name: 'turn_completed' })]);
    expect(told.at(-2)?.usage).toEqual(usage);
    expect(told.at(-1)?.name).toBe('turn_completed');
  });

  // @conforms runs.13
  it('never lose a quota window: the latest of each name is reported with the number', () => {
    const quota = (usedPercent: number, name = 'primary') => [
      { name, usedPercent, windowMinutes: 300, resetsAt: 5_000 },
    ];
    const flood = Array.from({ length: 1_000 }, () => event(0));
    const told = thinned([
      ...flood,
      ...[event(0, { quota: quota(10) }), event(0, { quota: quota(7, 'secondary') }), event(0, { quota: quota(20) })],
      ...[event(1_000), event(1_000)],
    ]);
    expect(told.at(-3)?.quota).toEqual([...quota(20), ...quota(7, 'secondary')]);
    expect(told.slice(-2)).toEqual([event(1_000), event(1_000)]);
  });

  it('keep no more quota windows than an account, whatever their names', () => {
    const named = (name: string) => [{ name, usedPercent: 1, windowMinutes: null, resetsAt: null }];
    const flood = Array.from({ length: 5_000 }, (_, at) => event(0, { quota: named(`made up ${at}`) }));
    const told = thinned([...flood, event(1_000)]);
    expect(told.at(-2)?.quota?.length).toBeLessThan(100);
    expect(told.at(-2)?.quota).toContainEqual(named('made up 4999')[0]);
  });
});
