import { describe, expect, it } from 'vitest';
import { followItem, LiveTurn } from '../../../../src/agent/codex/turn/live-turn.ts';
import { SimulatedClock } from '../../../fake/simulated-clock.ts';

const day = 24 * 3_600_000;

function openTurn(onSettled: () => void = () => {}) {
  const clock = new SimulatedClock();
  const turn = new LiveTurn(clock, 1_000, onSettled);
  return { clock, turn };
}

describe('a live turn', () => {
  it('is settled for whoever waits, also when telling its end fails', async () => {
    const { turn } = openTurn(() => {
      throw new Error('nobody listens');
    });
    expect(() => turn.settle({ status: 'completed' })).toThrow('nobody listens');
    expect(await turn.result).toEqual({ status: 'completed' });
  });

  it('is not silent while Codex waits for something of ours, and is again when that has ended', async () => {
    const { clock, turn } = openTurn();
    turn.hold('tool a');
    turn.hold('tool b');
    await clock.advance(60_000);
    turn.release('tool a');
    await clock.advance(60_000);
    expect(turn.isSettled).toBe(false);
    turn.release('tool b');
    await clock.advance(1_000);
    expect(await turn.result).toMatchObject({ status: 'failed', error: { code: 'agent_turn_timeout' } });
  });

  it('is silent in the end when something of ours was begun and never ended', async () => {
    const { clock, turn } = openTurn();
    const item = { type: 'mcpToolCall', id: 'call', server: 'baton' };
    followItem(turn, 'item/started', item, true);
    await clock.advance(3_600_000);
    expect(turn.isSettled).toBe(false);
    await clock.advance(day);
    expect(turn.isSettled).toBe(true);
  });

  it('waits for a person as long as he is asked: that ends on our side', async () => {
    const { clock, turn } = openTurn();
    turn.hold('request');
    await clock.advance(7 * day);
    expect(turn.isSettled).toBe(false);
    turn.release('request');
    await clock.advance(1_000);
    expect(turn.isSettled).toBe(true);
  });

  it('keeps a bounded number of what it waits for', async () => {
    const { clock, turn } = openTurn();
    for (let each = 0; each < 10_000; each += 1) turn.hold(`tool ${each}`);
    for (let each = 0; each < 1_000; each += 1) turn.release(`tool ${each}`);
    await clock.advance(1_000);
    expect(turn.isSettled).toBe(true);
  });

  it('leaves no timer behind when it is settled', async () => {
    const { clock, turn } = openTurn();
    turn.hold('tool', day);
    turn.settle({ status: 'completed' });
    turn.hold('tool after the end', day);
    turn.release('tool after the end');
    await clock.advance(2 * day);
    expect(await turn.result).toEqual({ status: 'completed' });
  });
});
