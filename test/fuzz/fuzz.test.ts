// @module-tag full
import { expect, it } from 'vitest';
import { httpTargets } from './http-targets.ts';
import { parserTargets } from './parser-targets.ts';
import { type FuzzResult, fuzz } from './run-fuzz.ts';

/** `npm run fuzz` gives them; the full tier has 50,000 inputs in all. */
const { BATON_FUZZ_INPUTS = '50000', BATON_FUZZ_FROM = '0', BATON_FUZZ_TARGET = '' } = process.env;
const timeLimitMs = 6 * 3_600_000;

// @conforms tools.41
it(
  'no input of another makes a parser fail outside of the error catalogue, or take unbounded time or memory',
  async () => {
    const all = [...parserTargets(), ...(await httpTargets())];
    const targets = all.filter(({ name }) => BATON_FUZZ_TARGET === '' || name === BATON_FUZZ_TARGET);
    const shares = targets.reduce((sum, { share }) => sum + share, 0);
    const results: FuzzResult[] = [];
    for (const target of targets) {
      const inputs = Math.ceil((Number(BATON_FUZZ_INPUTS) * target.share) / shares);
      results.push(await fuzz(target, Number(BATON_FUZZ_FROM), inputs));
    }
    for (const { target, inputs, taken, refusals, slowestMs, mostGrownMiB } of results) {
      const refused = [...refusals].map(([code, times]) => `${code} ${times}`).join(', ');
      console.log(
        `${target.padEnd(16)} ${inputs} inputs, ${taken} taken, slowest ${slowestMs.toFixed(0)} ms, +${mostGrownMiB.toFixed(0)} MiB; ${refused}`,
      );
    }
    expect(results.reduce((sum, { inputs }) => sum + inputs, 0)).toBeGreaterThanOrEqual(Number(BATON_FUZZ_INPUTS));
  },
  timeLimitMs,
);
