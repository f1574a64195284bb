import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nothingUsed, usageAfter } from '../../src/orchestrator/runs/run-usage.ts';

const prices = { '*': { input: 2, cachedInput: null, output: 10 } };
const told = { inputTokens: 100, cachedInputTokens: 40, outputTokens: 10, reasoningTokens: 5, totalTokens: 110 };
const before = usageAfter(nothingUsed, told, prices);

describe('the usage of a run', () => {
  it('grows with the reports, never falls, and costs what the prices say', () => {
    expect(before).toEqual({ ...told, costMicroUsd: 300, costRoundedUp: 0 });
    expect(usageAfter(before, { inputTokens: 1, outputTokens: 20, totalTokens: 21 }, prices)).toMatchObject({
      inputTokens: 100,
      outputTokens: 20,
      totalTokens: 110,
      costMicroUsd: 400,
    });
  });

  // @conforms tools.18
  it.each([1e300, 1e12, 2.5, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('ignores %s as a count', (count) => {
    const mad = { inputTokens: count, cachedInputTokens: count, outputTokens: count, reasoningTokens: count };
    expect(usageAfter(before, { ...mad, totalTokens: count }, prices)).toEqual(before);
    expect(usageAfter(before, { ...told, outputTokens: count, inputTokens: 200 }, prices)).toMatchObject({
      inputTokens: 200,
      outputTokens: 10,
      costMicroUsd: 500,
    });
  });

  it('uses the cost that an agent reports, unless it is impossible', () => {
    expect(usageAfter(before, { ...told, costMicroUsd: 1_234.2 }, prices).costMicroUsd).toBe(1_235);
    for (const costMicroUsd of [1e300, Number.NaN, -5])
      expect(usageAfter(before, { ...told, costMicroUsd }, prices)).toEqual(before);
  });

  // @conforms runs.57
  it('keeps the price of the model that used it: the cost is the sum over the increases', () => {
    const table = {
      small: { input: 1, cachedInput: 0.1, output: 4 },
      large: { input: 15.5, cachedInput: null, output: 75 },
      odd: { input: 0.333333333, cachedInput: 0.07, output: 0.1 },
    };
    const growth = fc.record({
      input: fc.nat(5_000),
      cachedPart: fc.double({ min: 0, max: 1, noNaN: true }),
      output: fc.nat(5_000),
      model: fc.constantFrom('small', 'large', 'odd', 'unpriced', undefined),
    });
    fc.assert(
      fc.property(fc.array(growth, { maxLength: 30 }), (reports) => {
        let after = nothingUsed;
        let billionths = 0n;
        for (const { input, cachedPart, output, model } of reports) {
          const cached = Math.floor(input * cachedPart);
          const price = model === undefined || model === 'unpriced' ? null : table[model as keyof typeof table];
          const each = (tokens: number, usd: number) => BigInt(tokens) * BigInt(Math.round(usd * 1e9));
          if (price !== null)
            billionths +=
              each(input - cached, price.input) +
              each(cached, price.cachedInput ?? price.input) +
              each(output, price.output);
          const totals = {
            inputTokens: after.inputTokens + input,
            cachedInputTokens: after.cachedInputTokens + cached,
            outputTokens: after.outputTokens + output,
          };
          const report = { ...totals, totalTokens: totals.inputTokens + totals.outputTokens };
          after = usageAfter(after, model === undefined ? report : { ...report, model }, table);
        }
        expect(BigInt(after.costMicroUsd)).toBe((billionths + 999_999_999n) / 1_000_000_000n);
      }),
    );
  });

  it('consists of whole numbers that can be stored, whatever is reported', () => {
    const figure = fc.oneof(fc.double(), fc.integer(), fc.constant(undefined));
    const report = fc.record({
      inputTokens: figure,
      cachedInputTokens: figure,
      outputTokens: figure,
      reasoningTokens: figure,
      totalTokens: figure,
      costMicroUsd: figure,
    });
    fc.assert(
      fc.property(report, (drawn) => {
        // An agent tells what it likes.
        const after = usageAfter(before, drawn as typeof told, prices);
        for (const each of Object.values(after)) expect(Number.isSafeInteger(each)).toBe(true);
        for (const [name, each] of Object.entries(before))
          expect(after[name as keyof typeof after]).toBeGreaterThanOrEqual(each);
      }),
    );
  });
});
