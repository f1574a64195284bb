import { describe, expect, it } from 'vitest';
import { isTooMuchMarkdown } from '../../dashboard/data/text/markdown-limits.ts';

describe('a text made to block the page', () => {
  // @conforms dashboard.4
  it('is not rendered as Markdown if it is too long, too deep or has too many marks or lines', () => {
    const heavy = ['a'.repeat(50_001), '*a_ '.repeat(20_000), '[a](b '.repeat(5_000), 'a\n'.repeat(3_001)];
    const deep = ['- '.repeat(40), '>'.repeat(40), '1. '.repeat(40), '> - 1) + '.repeat(10), `text\n${'>'.repeat(12)}`];
    for (const text of [...heavy, ...deep]) expect(isTooMuchMarkdown(text)).toBe(true);
  });

  it('is not confused with an ordinary issue', () => {
    const issue =
      '## Steps\n\n1. Open `https://example.com/a?b=c`\n2. **Press** _save_\n\n- [ ] a\n  - b\n\n> quoted\n\n---\n';
    expect(isTooMuchMarkdown(issue.repeat(40))).toBe(false);
    expect(isTooMuchMarkdown('-'.repeat(80))).toBe(false);
  });
});
