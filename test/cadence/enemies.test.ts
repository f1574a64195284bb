// @module-tag full
import { describe, expect, it } from 'vitest';
import { malformations } from '../fake/linear/faults.ts';
import { beginDay, type Day, hour, minute, second } from './day.ts';

const everyHalfMinute = { mode: 'fixed', interval_ms: 30_000 };
const oneSlot = { max_concurrent_agents: 1 };
const longWork = () => ({ turnMs: 50 * minute, movesTo: null });
const started = ({ starts }: Day): string[] => starts.map(({ identifier }) => identifier);

describe('a retry that waits for a slot', { timeout: 60_000 }, () => {
  // @conforms cadence.19
  it.each([
    ['with all slots taken', oneSlot],
    ['with all slots of a state taken', { max_concurrent_agents: 3, max_concurrent_agents_by_state: { todo: 1 } }],
  ])('%s does not ask the tracker until a slot is free', async (_what, agent) => {
    const work = (identifier: string) =>
      identifier === 'BAT-1'
        ? { turnMs: second, movesTo: null, fails: true }
        : { turnMs: 20 * hour, movesTo: null, isSilent: false };
    const day = await beginDay({ file: { polling: everyHalfMinute, agent: { ...agent, stall_timeout_ms: 0 } }, work });
    day.linear.addIssue();
    await day.clock.advance(40 * second);
    day.linear.addIssue();
    await day.clock.advance(10 * minute);
    const before = await day.counted();
    await day.clock.advance(hour);
    const after = await day.counted();
    expect((after.retry ?? 0) - (before.retry ?? 0)).toBeLessThanOrEqual(2);
    expect((after.poll ?? 0) - (before.poll ?? 0)).toBeLessThanOrEqual(121);
    await day.orchestrator.stop();
  });
});

describe('a candidate from an earlier read', { timeout: 60_000 }, () => {
  // @conforms cadence.20
  it.each<[string, (day: Day) => void]>([
    ['blocked', ({ linear }) => linear.relate('BAT-3', 'BAT-2')],
    ['moved out of the project', ({ linear }) => linear.updateIssue('BAT-2', { project: 'other' })],
    ['deleted', ({ linear }) => linear.remove('BAT-2')],
    ['archived', ({ linear }) => linear.archive('BAT-2')],
  ])('is read again before it starts, and does not start if it was %s meanwhile', async (_what, happens) => {
    const day = await beginDay({ file: { polling: everyHalfMinute, agent: oneSlot }, work: longWork });
    day.linear.addProject({ slugId: 'other' });
    day.linear.addIssue();
    await day.clock.advance(35 * second);
    day.linear.addIssue();
    day.linear.addIssue({ state: 'Backlog' });
    await day.clock.advance(5 * minute);
    happens(day);
    await day.clock.advance(20 * minute);
    day.linear.updateIssue('BAT-1', { state: 'Done' });
    await day.clock.advance(2 * minute);
    expect(started(day)).toEqual(['BAT-1']);
    await day.orchestrator.stop();
  });

  // @conforms cadence.21
  it('is kept when a read by id contradicts it for a while', async () => {
    const work = (identifier: string) =>
      identifier === 'BAT-1'
        ? { turnMs: 10 * hour, movesTo: null, isSilent: true }
        : { turnMs: minute, movesTo: 'Done', isSilent: false };
    const agent = { ...oneSlot, stall_timeout_ms: 640_000, max_retries: 1, max_retry_backoff_ms: 11_000 };
    const day = await beginDay({ file: { polling: everyHalfMinute, agent }, work });
    day.linear.addProject({ slugId: 'other' });
    day.linear.addIssue();
    day.linear.addIssue({ project: 'other', state: 'Done' });
    await day.clock.advance(35 * second);
    day.linear.addIssue();
    day.linear.relate('BAT-2', 'BAT-3');
    await day.clock.advance(5 * minute);
    // A blocker in another project was reopened: only a read of BAT-3 itself shows it.
    day.linear.updateIssue('BAT-2', { state: 'In Progress' });
    await day.clock.advance(10 * minute);
    expect(day.orchestrator.read()).toMatchObject({ held: [{ issue: { identifier: 'BAT-1' } }], running: [] });
    day.linear.updateIssue('BAT-2', { state: 'Done' });
    await day.clock.advance(5 * minute);
    expect(started(day)).toContain('BAT-3');
    await day.orchestrator.stop();
  });
});

describe('a malformed Linear record', { timeout: 60_000 }, () => {
  // @conforms cadence.22
  it('of a running issue does not affect others: a closed one stops, a new one starts', async () => {
    const day = await beginDay({ file: { polling: everyHalfMinute }, work: longWork });
    for (let nth = 0; nth < 2; nth += 1) day.linear.addIssue();
    await day.clock.advance(35 * second);
    day.linear.faults.malformed.set(day.linear.issue('BAT-1').id, malformations.nullTitle);
    day.linear.updateIssue('BAT-2', { state: 'Done' });
    day.linear.addIssue();
    await day.clock.advance(2 * minute);
    expect(day.ends.map(({ identifier }) => identifier)).toEqual(['BAT-2']);
    expect(started(day)).toContain('BAT-3');
    await day.orchestrator.stop();
  });

  it('of a retrying issue delays only that issue', async () => {
    const work = (identifier: string) => ({
      turnMs: identifier === 'BAT-1' ? second : hour,
      movesTo: null,
      fails: true,
    });
    const day = await beginDay({ file: { polling: everyHalfMinute }, work });
    day.linear.addIssue();
    await day.clock.advance(35 * second);
    day.linear.faults.malformed.set(day.linear.issue('BAT-1').id, malformations.nullTitle);
    const before = await day.counted();
    await day.clock.advance(hour);
    const after = await day.counted();
    expect((after.poll ?? 0) - (before.poll ?? 0)).toBeGreaterThanOrEqual(118);
    expect((after.retry ?? 0) - (before.retry ?? 0)).toBeLessThanOrEqual(25);
    await day.orchestrator.stop();
  });
});

describe('clocks and people', { timeout: 60_000 }, () => {
  it('a limit that ended during sleep does not apply after waking', async () => {
    const day = await beginDay({ file: { polling: everyHalfMinute } });
    await day.clock.advance(5 * minute);
    day.linear.faults.next.push({ kind: 'rate_limit', resetAt: day.clock.now() + 6 * hour });
    await day.clock.advance(minute);
    day.clock.sleepStill(8 * hour);
    const wokeAt = day.clock.now();
    await day.clock.advance(minute);
    expect(day.sentSince(wokeAt).length).toBeGreaterThanOrEqual(1);
    await day.orchestrator.stop();
  });

  it('a clock that was set back does not keep the active pace until the clock catches up', async () => {
    const day = await beginDay({ file: { polling: { mode: 'adaptive' } } });
    await day.clock.advance(minute);
    day.clock.sleepStill(-24 * hour);
    await day.clock.advance(3 * hour);
    expect(day.orchestrator.read().polling.mode).toBe('dormant');
    await day.orchestrator.stop();
  });

  // @conforms cadence.23
  it('a hundred commands in a second share two polls, and cause few while Linear is down', async () => {
    const day = await beginDay({ file: { polling: everyHalfMinute } });
    await day.clock.advance(10 * second);
    const from = day.clock.now();
    for (let nth = 0; nth < 100; nth += 1) {
      day.orchestrator.wake();
      await day.clock.advance(10);
    }
    await day.clock.advance(second);
    expect(day.sentSince(from).length).toBeLessThanOrEqual(3);
    day.wire.weather = 'refused';
    const downFrom = day.clock.now();
    for (let nth = 0; nth < 600; nth += 1) {
      day.orchestrator.wake();
      await day.clock.advance(second);
    }
    expect(day.sentSince(downFrom).length).toBeLessThanOrEqual(70);
    await day.orchestrator.stop();
  });
});
