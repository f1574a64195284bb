import fc from 'fast-check';
import { expect, it } from 'vitest';
import { costWith, nothingPaid, type TokenCounts } from '../../../src/core/account/token-cost.ts';
import type { TokenPrice } from '../../../src/core/settings/setting.ts';

const prices = {
  'model-a': { input: 1.25, cachedInput: 0.125, output: 10 },
  '*': { input: 2, cachedInput: null, output: 4 },
};
const costMicroUsd = (counts: TokenCounts, table: Readonly<Record<string, TokenPrice>>, model: string | null) =>
  costWith(nothingPaid, counts, table, model).microUsd;
const used = { inputTokens: 1_000, cachedInputTokens: 600, outputTokens: 50 };

it('charges tokens by the price of their model, and cached input by its own price', () => {
  // 400 · 1.25 + 600 · 0.125 + 50 · 10
  expect(costMicroUsd(used, prices, 'model-a')).toBe(1_075);
});

it('uses the price of * for an unknown model, and the input price for a cache without a price', () => {
  expect(costMicroUsd(used, prices, 'model-b')).toBe(1_000 * 2 + 50 * 4);
  expect(costMicroUsd(used, prices, null)).toBe(2_200);
});

it.each(['model-b', 'constructor', '__proto__', 'toString', null])('charges nothing without a price (%s)', (model) => {
  expect(costMicroUsd(used, { 'model-a': prices['model-a'] }, model)).toBe(0);
});

it.each([
  ['gpt-5.5', 400 * 5 + 600 * 0.5 + 50 * 30],
  ['gpt-5.5-2026-04-23', 400 * 5 + 600 * 0.5 + 50 * 30],
  ['claude-opus-4-5-20251101', 400 * 5 + 600 * 0.5 + 50 * 25],
  ['claude-opus-5-5[1m]', 400 * 4 + 600 * 0.2 + 50 * 20],
])('charges the list price of a model that it knows (%s), unless the file has a price for it', (model, cost) => {
  const own = { input: 1, cachedInput: null, output: 1 };
  expect(costMicroUsd(used, {}, model)).toBe(cost);
  expect(costMicroUsd(used, { 'model-a': own }, model)).toBe(cost);
  expect(costMicroUsd(used, { [model]: own }, model)).toBe(1_050);
  expect(costMicroUsd(used, { '*': own }, model)).toBe(1_050);
});

it('rounds up to a millionth once over the whole sum', () => {
  const tenth: TokenPrice = { input: 0.1, cachedInput: 0.1, output: 0.1 };
  const cost = (inputTokens: number, outputTokens = 0): number =>
    costMicroUsd({ inputTokens, outputTokens }, { '*': tenth }, null);
  expect(cost(1)).toBe(1);
  expect(cost(10)).toBe(1);
  expect(cost(5, 5)).toBe(1);
  expect(cost(11)).toBe(2);
  expect(cost(0)).toBe(0);
});

// @conforms runs.32
it('is exact where floating point is not', () => {
  // As floats 100 · 0.07 is a little more than 7, and would be 8.
  const small: TokenPrice = { input: 0.07, cachedInput: null, output: 0 };
  expect(costMicroUsd({ inputTokens: 100, outputTokens: 0 }, { '*': small }, null)).toBe(7);
  const price: TokenPrice = { input: 0.3, cachedInput: null, output: 0.6 };
  expect(costMicroUsd({ inputTokens: 9_007_199_254_740_990, outputTokens: 0 }, { '*': price }, null)).toBe(
    2_702_159_776_422_297,
  );
});

it.each([
  [{ inputTokens: -5, outputTokens: 10 }, 40],
  [{ inputTokens: Number.NaN, outputTokens: 10 }, 40],
  [{ inputTokens: Number.POSITIVE_INFINITY, outputTokens: 10 }, 40],
  [{ inputTokens: 10, cachedInputTokens: 99, outputTokens: 0 }, 20],
  [{ inputTokens: 10.9, outputTokens: 0 }, 20],
])('never returns a negative or infinite cost for invalid counts: %j', (nonsense, cost) => {
  expect(costMicroUsd(nonsense, { '*': prices['*'] }, null)).toBe(cost);
});

it('caps a cost that exceeds the exact numbers', () => {
  const cost = costMicroUsd({ inputTokens: 1e300, outputTokens: 0 }, prices, null);
  expect(cost).toBe(Number.MAX_SAFE_INTEGER);
});

it('never charges less for more tokens, and returns whole millionths', () => {
  const tokens = fc.nat(10 ** 9);
  const price = fc.nat(10 ** 6).map((millis) => millis / 1_000);
  fc.assert(
    fc.property(
      tokens,
      tokens,
      tokens,
      tokens,
      price,
      price,
      (input, output, moreInput, moreOutput, inPrice, outPrice) => {
        const table = { '*': { input: inPrice, cachedInput: null, output: outPrice } };
        const cost = (inputTokens: number, outputTokens: number): number =>
          costMicroUsd({ inputTokens, outputTokens }, table, null);
        expect(cost(input + moreInput, output + moreOutput)).toBeGreaterThanOrEqual(cost(input, output));
        expect(Number.isSafeInteger(cost(input, output))).toBe(true);
        // The price is given in thousandths, so the exact cost is a division of whole numbers.
        const exact =
          BigInt(input) * BigInt(Math.round(inPrice * 1_000)) + BigInt(output) * BigInt(Math.round(outPrice * 1_000));
        expect(BigInt(cost(input, output))).toBe((exact + 999n) / 1_000n);
      },
    ),
  );
});

it('charges the same however the reports are split', () => {
  const part = fc.record({
    inputTokens: fc.nat(10_000),
    cachedInputTokens: fc.constant(0),
    outputTokens: fc.nat(10_000),
    model: fc.constantFrom('model-a', 'model-b', null),
  });
  const odd = { ...prices, 'model-a': { input: 0.123456789, cachedInput: null, output: 0.000000007 } };
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const inParts = parts.reduce((paid, { model, ...counts }) => costWith(paid, counts, odd, model), nothingPaid);
      const sums = ['model-a', null].map((model) => {
        const own = parts.filter((each) => (each.model === 'model-a') === (model === 'model-a'));
        const sum = (name: 'inputTokens' | 'outputTokens') => own.reduce((total, each) => total + each[name], 0);
        return [{ inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') }, model] as const;
      });
      expect(inParts).toEqual(sums.reduce((paid, [counts, model]) => costWith(paid, counts, odd, model), nothingPaid));
    }),
  );
});
