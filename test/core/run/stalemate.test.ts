import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countIdleTurn,
  isStalemate,
  noIdleTurns,
  stalemateError,
  type TurnTrace,
} from '../../../src/core/run/stalemate.ts';
import { telling } from '../../telling.ts';

/** A turn as `fingerprint/message`; `?` is a workspace that could not be seen, `!` a person who was heard in it. */
function turn(text: string): TurnTrace {
  const [seen = '', message = ''] = text.split('/');
  const fingerprint = seen.replace('!', '');
  return { fingerprint: fingerprint === '?' ? null : fingerprint, message, heardPerson: seen.startsWith('!') };
}

const countAfter = (before: string | null, turns: readonly TurnTrace[]): number =>
  turns.reduce(countIdleTurn, noIdleTurns(before)).count;

describe('idle turns in a row', () => {
  it.each([
    ['a first turn that changed nothing', 'a', ['a/done'], 1],
    ['three with the same words', 'a', ['a/done', 'a/done', 'a/done'], 3],
    ['three without a word', 'a', ['a/', 'a/', 'a/  '], 3],
    ['words that differ in space around them', 'a', ['a/done', 'a/ done '], 2],
    ['other words begin a new count', 'a', ['a/done', 'a/waiting', 'a/waiting'], 2],
    ['silence after words begins a new count', 'a', ['a/done', 'a/'], 1],
    ['a change ends the count', 'a', ['a/done', 'a/done', 'b/done'], 0],
    ['a change, then nothing', 'a', ['b/done', 'b/done'], 1],
    ['there and back is two changes', 'a', ['b/done', 'a/done', 'b/done'], 0],
    ['a workspace that cannot be seen never counts', 'a', ['a/done', '?/done'], 0],
    ['nor does the turn after it', 'a', ['a/done', '?/done', 'a/done'], 0],
    ['but the next one does', 'a', ['?/done', 'a/done', 'a/done'], 1],
    ['never seen', null, ['?/', '?/', '?/'], 0],
    ['not seen before the first turn', null, ['a/', 'a/'], 1],
    // @conforms runs.40
    ['a turn in which a person was heard is not idle', 'a', ['a/done', 'a/done', '!a/done'], 0],
    ['and the count begins anew after it', 'a', ['a/done', 'a/done', '!a/done', 'a/done', 'a/done'], 2],
    ['a person in the very first turn', 'a', ['!a/done', 'a/other'], 1],
  ] as const)('%s', (_what, before, turns, count) => {
    expect(countAfter(before, turns.map(turn))).toBe(count);
  });

  // @conforms runs.7
  it('are never more than the turns since the last change or the last message of a person', () => {
    const some = fc.record({
      fingerprint: fc.constantFrom('a', 'b', null),
      message: fc.constantFrom('', 'done', ' done '),
      heardPerson: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.constantFrom('a', null), fc.array(some, { maxLength: 12 }), (before, turns) => {
        const seen = [before, ...turns.map(({ fingerprint }) => fingerprint)];
        const lastChange = seen.findLastIndex((each, index) => each === null || each !== seen[index - 1]);
        const lastWord = turns.findLastIndex(({ heardPerson }) => heardPerson) + 1;
        expect(countAfter(before, turns)).toBeLessThanOrEqual(turns.length - Math.max(lastChange, lastWord, 0));
      }),
    );
  });

  it.each([
    [0, 99, false],
    [3, 2, false],
    [3, 3, true],
    [3, 4, true],
    [1, 1, true],
  ])('under a limit of %i with %i of them: a stalemate is %s', (limit, count, expected) => {
    expect(isStalemate({ count, fingerprint: 'a', message: '' }, limit)).toBe(expected);
  });
});

describe('the error of a stalemate', () => {
  it('quotes the last message in one harmless line of limited length, and names the setting', () => {
    const error = stalemateError({ count: 3, fingerprint: 'a', message: `I am\n\u001b[31mstuck ${'x'.repeat(9_000)}` });
    expect(error).toMatchObject({ code: 'run_stalemate', retryable: false });
    expect(error.message).toEqual(telling(3, 'agent.max_idle_turns'));
    expect(error.message).toMatch(/"I am ␛\[31mstuck x+…"/);
    expect(error.message.length).toBeLessThan(500);
  });

  it('quotes nothing when the agent said nothing', () => {
    const { message } = stalemateError({ count: 1, fingerprint: 'a', message: '' });
    expect(message).toContain('agent.max_idle_turns');
    expect(message).not.toContain('"');
  });
});
