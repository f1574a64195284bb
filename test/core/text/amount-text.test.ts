import { expect, it } from 'vitest';
import { countText, durationText, usdText } from '../../../src/core/text/amount-text.ts';

it.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1_000, '1 s'],
  [1_550, '1.5 s'],
  [59_999, '59.9 s'],
  [60_000, '1 min'],
  [90_999, '1 min 30 s'],
  [3_599_999, '59 min 59 s'],
  [3_600_000, '1 h'],
  [14_399_999, '3 h 59 min'],
  [86_400_000, '24 h'],
  [3_600_000_000_000, '1,000,000 h'],
])('%d ms are %s, and never rounded up', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

it('groups thousands in counts, and shows every counted decimal of money', () => {
  expect(countText(20_000_000)).toBe('20,000,000');
  expect([0, 2.5, 1234.5, 0.000_001, 19.999_999].map(usdText)).toEqual([
    '$0.00',
    '$2.50',
    '$1,234.50',
    '$0.000001',
    '$19.999999',
  ]);
});
