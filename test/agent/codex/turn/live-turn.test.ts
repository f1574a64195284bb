import { describe, expect, it } from 'vitest';
import { followItem } from '../../../../src/agent/codex/turn/past-turns.ts';
import { LiveTurn } from '../../../../src/agent/live-turn.ts';
import { SimulatedClock } from '../../../fake/simulated-clock.ts';

const day = 24 * 3_600_000;

function openTurn(onSettled: () => void = () => {}) {
  const clock = new SimulatedClock();
  const turn = new LiveTurn('Codex', clock, 1_000, onSettled);
  return { clock, turn };
}

describe('a live turn', () => {
  it('settles for its caller even when reporting its end fails', async () => {
    const { turn } = openTurn(() => {
      throw new Error('nobody listens');
    });
    expect(() => turn.settle({ status: 'completed' })).toThrow('nobody listens');
    expect(await turn.result).toEqual({ status: 'completed' });
  });

  it('does not count as silent while Codex waits for Baton, and counts again after that', async () => {
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

  it('counts as silent in the end when work of Baton began and never ended', async () => {
    const { clock, turn } = openTurn();
    const item = { type: 'mcpToolCall', id: 'call', server: 'baton' };
    followItem(turn, 'item/started', item, true);
    await clock.advance(3_600_000);
    expect(turn.isSettled).toBe(false);
    await clock.advance(day);
    expect(turn.isSettled).toBe(true);
  });

  it('waits for a person without a limit of its own', async () => {
    const { clock, turn } = openTurn();
    turn.hold('request');
    await clock.advance(7 * day);
    expect(turn.isSettled).toBe(false);
    turn.release('request');
    await clock.advance(1_000);
    expect(turn.isSettled).toBe(true);
  });

  it('limits the number of waits that it remembers', async () => {
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
