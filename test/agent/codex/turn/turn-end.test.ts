import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { turnEndOf } from '../../../../src/agent/codex/turn/turn-end.ts';
import { readFrame } from '../../../../src/agent/codex/wire/frame.ts';

const surroundings = { windows: [], now: 0, home: null };

/** Judges a line as a session does. */
function endOf(method: string, params: unknown): unknown {
  const frame = readFrame(JSON.stringify({ method, params }));
  if (frame?.kind !== 'notification') throw new Error('this is no notification');
  return turnEndOf(method, frame.params, 'the last words', surroundings, frame.whole);
}

describe('the end of a turn', () => {
  it.each([
    [{ turn: { id: 't', status: 'completed' } }],
    [{ turn: { id: 't', status: { type: 'completed' } } }],
    [{ turn: { id: 't' } }],
    [{ status: 'completed' }],
    [{}],
    [undefined],
  ])('%j is a completed turn', (params) => {
    expect(endOf('turn/completed', params)).toEqual({ status: 'completed', message: 'the last words' });
  });

  it.each([
    [{ turn: { id: 't', status: { type: 'interrupted' }, error: null } }],
    [{ turn: { id: 't', status: { type: 'failed' } } }],
    [{ turn: { id: 't', status: 'FAILED' } }],
    [{ turn: { id: 't', status: 7 } }],
    [{ turn: { id: 't', status: null } }],
    [{ turn: { id: 't', status: [] } }],
    [{ turn: { id: 't', status: {} } }],
    [{ turn: { id: 't' }, status: 'failed' }],
    [{ turn: null }],
    [{ turn: 'completed' }],
    ['garbage'],
    [['completed']],
    [null],
  ])('%j is not a success', (params) => {
    expect(endOf('turn/completed', params)).toMatchObject({ status: 'failed', error: { code: 'agent_turn_failed' } });
  });

  // @conforms X4
  it('is a success only with the status "completed"', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (status) => {
        const isSuccess =
          (endOf('turn/completed', { turn: { id: 't', status } }) as { status: string }).status === 'completed';
        const word = typeof status === 'object' && status !== null ? (status as { type?: unknown }).type : status;
        expect(isSuccess).toBe(word === 'completed');
      }),
    );
  });
});
