import fc from 'fast-check';
import { expect, it } from 'vitest';
import { getsSecondPrompt } from '../../../src/core/prompt/choose-prompt.ts';
import { runs } from '../../property-runs.ts';

const share = fc.integer({ min: 1, max: 100 });

// @conforms 4.131b
it('gives an issue the same prompt each time, and a larger share takes none of the second prompt away', () => {
  fc.assert(
    fc.property(fc.string(), share, share, (id, one, other) => {
      const [small, large] = [Math.min(one, other), Math.max(one, other)];
      expect(getsSecondPrompt(id, one)).toBe(getsSecondPrompt(id, one));
      if (getsSecondPrompt(id, small)) expect(getsSecondPrompt(id, large)).toBe(true);
      expect(getsSecondPrompt(id, 100)).toBe(true);
    }),
    { numRuns: runs(1_000) },
  );
});

// @conforms 4.131b
it.each([
  ['counted identifiers', (n: number) => `BAT-${n}`],
  ['numbers', (n: number) => `${n}`],
  ['long ids', (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`],
])('gives the second prompt to its share of %s', (_, idOf) => {
  const ids = Array.from({ length: 20_000 }, (_each, n) => idOf(n));
  for (const wanted of [1, 10, 50, 90]) {
    const found = ids.filter((id) => getsSecondPrompt(id, wanted)).length / ids.length;
    // Five standard deviations of a fair draw.
    const p = wanted / 100;
    expect(Math.abs(found - p)).toBeLessThan(5 * Math.sqrt((p * (1 - p)) / ids.length));
  }
});
