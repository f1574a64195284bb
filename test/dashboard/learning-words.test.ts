import { describe, expect, it } from 'vitest';
import { trialWords } from '../../dashboard/data/text/learning-words.ts';
import { telling } from '../telling.ts';

const share = (count: number, of: number) => ({ count, of, low: null, high: null });

const words = (tried: readonly [number, number], others: readonly [number, number]): string =>
  trialWords({ sent_back_with: share(...tried), sent_back_without: share(...others) }, 20);

describe('the state of a trial', () => {
  it('says how often work came back with the learning and without it, and how many issues are needed', () => {
    expect(words([2, 14], [5, 13])).toEqual(telling('2 of 14', '5 of 13', 20));
  });

  it('asks for no more issues when there are enough on both sides', () => {
    expect(words([2, 20], [5, 19])).toEqual(telling('2 of 20', '5 of 19', 20));
    expect(words([2, 30], [5, 31])).not.toEqual(telling(20));
    expect(words([0, 30], [0, 31])).not.toEqual(telling(20));
  });
});
