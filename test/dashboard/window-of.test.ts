import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { windowOf } from '../../dashboard/data/page/window-of.ts';

describe('the drawn part of a long list', () => {
  // @conforms dashboard.6
  it('contains every visible row and few others at any scroll position', () => {
    const view = fc.record({
      top: fc.integer({ min: -200, max: 800_000 }),
      height: fc.integer({ min: 0, max: 3_000 }),
      rowHeight: fc.integer({ min: 10, max: 100 }),
      count: fc.integer({ min: 0, max: 10_000 }),
    });
    fc.assert(
      fc.property(view, ({ top, height, rowHeight, count }) => {
        const { from, to } = windowOf({ top, height, rowHeight, count });
        expect(from).toBeGreaterThanOrEqual(0);
        expect(to).toBeLessThanOrEqual(count);
        for (const y of [top, top + height / 2, top + height - 1]) {
          const row = Math.floor(y / rowHeight);
          if (height > 0 && row >= 0 && row < count) expect(from <= row && row < to).toBe(true);
        }
        const isInside = top + height <= count * rowHeight;
        if (isInside) expect(to - from).toBeLessThanOrEqual(Math.ceil(height / rowHeight) + 20);
      }),
    );
  });

  it('is not empty when the list became shorter than the scroll position', () => {
    const { from, to } = windowOf({ top: 50_000, height: 600, rowHeight: 70, count: 20 });
    expect(to - from).toBeGreaterThan(0);
  });
});
