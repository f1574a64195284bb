import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Step } from '../../../fake/app-server/scenario.ts';
import { openCodex, turn } from '../codex-scene.ts';

const note = (method: string, params: Record<string, unknown> = {}): Step => ({ send: { method, params } });
const started = (threadId: string, id: string): Step =>
  note('turn/started', { threadId, turn: { id, status: 'inProgress' } });
const completed = (threadId: string, id: string, status = 'completed'): Step =>
  note('turn/completed', { threadId, turn: { id, status, items: [] } });

/** Ends the turn, then lets the fake continue with its steps. */
const ownEnd = completed('$thread', '$turn');

describe('a turn that Baton did not request', () => {
  // @conforms codex.7
  it('is interrupted and reported between two turns, and its end does not end the next turn', async () => {
    const { session, fake, events } = await openCodex({
      turns: [
        { match: 'first', steps: [{ say: 'one' }, ownEnd, started('$thread', 'stray'), { forever: true }] },
        {
          match: 'second',
          steps: [completed('$thread', 'stray', 'failed'), { waitMs: 50 }, { answerStart: true }, { say: 'two' }],
        },
      ],
      before: { 'turn/interrupt': [completed('$thread', 'stray', 'interrupted')] },
    });
    expect(await session.runTurn('first')).toMatchObject({ status: 'completed', message: 'one' });
    const stray = { threadId: session.threadId, turnId: 'stray' };
    await expect.poll(() => fake.sent('turn/interrupt')).toContainEqual(stray);
    expect(events.filter(({ payload }) => isDeepStrictEqual(payload, stray))).toMatchObject([{ name: 'notification' }]);
    expect(await session.runTurn('second')).toMatchObject({ status: 'completed', message: 'two' });
  });

  it('delays our turn while Codex runs it', async () => {
    const { session, fake } = await openCodex({
      ...turn({ say: 'one' }, ownEnd, started('$thread', 'stray'), { forever: true }),
      answers: { 'turn/interrupt': 'silence' },
    });
    expect(await session.runTurn('first')).toMatchObject({ status: 'completed' });
    await expect.poll(() => fake.sent('turn/interrupt')).toHaveLength(1);
    expect(await session.runTurn('second')).toMatchObject({
      status: 'failed',
      error: { code: 'agent_protocol_error' },
    });
    expect(fake.sent('turn/start')).toHaveLength(1);
  });

  it('of a helper is interrupted when our turn is completed, before that is reported', async () => {
    const { session, fake } = await openCodex(
      turn(started('helper', 'h1'), started('helper of old', 'h2'), completed('helper of old', 'h2'), { say: 'done' }),
    );
    expect(await session.runTurn('go')).toEqual({ status: 'completed', message: 'done' });
    expect(fake.sent('turn/interrupt')).toEqual([{ threadId: 'helper', turnId: 'h1' }]);
  });

  it('of a helper is interrupted when our turn is given up', async () => {
    const { session, fake, names } = await openCodex(
      turn(started('helper', 'h1'), { say: 'at work' }, { forever: true }),
    );
    const giveUp = new AbortController();
    const given = session.runTurn('go', giveUp.signal);
    await expect.poll(names).toContain('notification');
    giveUp.abort();
    expect(await given).toEqual({ status: 'cancelled' });
    expect(fake.sent('turn/interrupt')).toContainEqual({ threadId: 'helper', turnId: 'h1' });
  });

  it('of a helper is interrupted at once when it begins after our turn has ended', async () => {
    const { session, fake } = await openCodex(
      turn({ say: 'done' }, ownEnd, { waitMs: 50 }, started('helper', 'late'), { forever: true }),
    );
    await session.runTurn('go');
    await expect.poll(() => fake.sent('turn/interrupt')).toEqual([{ threadId: 'helper', turnId: 'late' }]);
  });

  it('costs a bounded wait when it cannot be interrupted, and does not change the result of our turn', async () => {
    const { session } = await openCodex({
      ...turn(started('helper', 'h1'), { say: 'done' }),
      answers: { 'turn/interrupt': 'silence' },
    });
    const from = performance.now();
    expect(await session.runTurn('go')).toEqual({ status: 'completed', message: 'done' });
    expect(performance.now() - from).toBeLessThan(10_000);
  });
});

describe('a message about another thread or another turn', () => {
  it('does not end our turn when it needs a person', async () => {
    const { session } = await openCodex(
      turn(note('turn/needs_input', { threadId: 'helper', question: 'Which?' }), { waitMs: 200 }, { say: 'went on' }),
    );
    expect(await session.runTurn('go')).toEqual({ status: 'completed', message: 'went on' });
  });

  it('is not the last message of our turn', async () => {
    const late = note('item/completed', { turnId: 'older', item: { type: 'agentMessage', id: 'x', text: 'late' } });
    const { session } = await openCodex(turn({ say: 'two' }, late));
    expect(await session.runTurn('go')).toEqual({ status: 'completed', message: 'two' });
  });
});

describe('a turn that Codex does not end', () => {
  const deaf = { 'turn/interrupt': 'silence' as const };

  // @conforms codex.8
  it('blocks the next turn, and its late end does not count for another turn', async () => {
    const { session, fake } = await openCodex({
      turns: [
        { steps: [note('turn/needs_input', { question: 'Which?' }), { forever: true }] },
        { steps: [completed('$thread', 'older'), { say: 'never' }] },
      ],
      answers: deaf,
    });
    expect(await session.runTurn('first')).toMatchObject({ status: 'input_required' });
    expect(await session.runTurn('second')).toMatchObject({
      status: 'failed',
      error: { code: expect.stringMatching(/^agent_(protocol_error|turn_failed)$/) },
    });
    expect(fake.sent('turn/start')).toHaveLength(1);
  });

  // @conforms codex.9
  it('is interrupted until it ends when Codex has accepted it but not begun it', async () => {
    const error = { code: -32_600, message: 'no active turn to interrupt' };
    const { session, fake } = await openCodex({
      turns: [{ match: 'first', steps: [{ waitMs: 700 }] }, { steps: [{ say: 'two' }] }],
      answers: { 'turn/interrupt': { error } },
    });
    expect(await session.runTurn('first', AbortSignal.timeout(1))).toEqual({ status: 'cancelled' });
    expect(fake.sent('turn/interrupt').length).toBeGreaterThan(1);
    expect(await session.runTurn('second')).toEqual({ status: 'completed', message: 'two' });
  });

  it('blocks the first turn when it was to compact the thread', async () => {
    const { session, fake } = await openCodex(
      {
        answers: { ...deaf, 'thread/compact/start': { result: {} } },
        before: { 'thread/compact/start': [started('thread-old', 'compaction')] },
      },
      { request: { threadId: 'thread-old', recovery: { compact: true } }, options: { turnTimeoutMs: 800 } },
    );
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed' });
    expect(fake.sent('turn/start')).toEqual([]);
  });

  it('receives no further message once it is given up', async () => {
    const { session, fake, names } = await openCodex({
      ...turn({ say: 'at work' }, { forever: true }),
      before: { 'turn/interrupt': [{ waitMs: 800 }] },
    });
    const giveUp = new AbortController();
    const given = session.runTurn('go', giveUp.signal);
    await expect.poll(names).toContain('notification');
    giveUp.abort();
    expect(await session.steer?.('do this as well')).toBe(false);
    expect(fake.sent('turn/steer')).toEqual([]);
    expect(await given).toEqual({ status: 'cancelled' });
  });
});
