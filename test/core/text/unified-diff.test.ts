import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unifiedDiff } from '../../../src/core/text/unified-diff.ts';
import { runs } from '../../property-runs.ts';

describe('the difference between two texts', () => {
  it('is empty for the same lines', () => {
    expect(unifiedDiff('a\nb\n', 'a\nb', 'x.md')).toEqual({ added: 0, removed: 0, patch: '' });
  });

  it('shows changed lines between three lines of context, with their numbers', () => {
    const before = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
    const after = before.map((line) => (line === '5' ? 'five' : line));
    const { patch } = unifiedDiff(before.join('\n'), after.join('\n'), 'x.md');
    expect(patch.split('\n')).toEqual([
      'diff --git a/x.md b/x.md',
      '--- a/x.md',
      '+++ b/x.md',
      '@@ -2,7 +2,7 @@',
      ...[' 2', ' 3', ' 4', '-5', '+five', ' 6', ' 7', ' 8', ''],
    ]);
  });

  it('shows two distant changes apart', () => {
    const before = Array.from({ length: 30 }, (_, at) => `line ${at}`);
    const after = before.map((line, at) => (at === 2 || at === 25 ? `${line}!` : line));
    expect(unifiedDiff(before.join('\n'), after.join('\n'), 'x').patch.match(/^@@ .*$/gm)).toEqual([
      '@@ -1,6 +1,6 @@',
      '@@ -23,7 +23,7 @@',
    ]);
  });

  it('shows texts that differ everywhere as removed and added', () => {
    const text = (word: string): string => Array.from({ length: 3_000 }, (_, at) => `${word} ${at}`).join('\n');
    expect(unifiedDiff(text('a'), text('b'), 'x')).toMatchObject({ added: 3_000, removed: 3_000 });
  });

  it('leads from the one text to the other, whatever they are', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const { patch, added, removed } = unifiedDiff(textOf(before), textOf(after), 'x');
        expect(applied(before, patch)).toEqual(after);
        expect(after.length - before.length).toBe(added - removed);
      }),
      { numRuns: runs(500) },
    );
  });
});

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** The text after a patch, by its line numbers. */
function applied(before: readonly string[], patch: string): readonly string[] {
  const after: string[] = [];
  let at = 0;
  for (const line of patch.split('\n').slice(3, -1)) {
    const range = /^@@ -(\d+),(\d+)/.exec(line);
    if (range !== null) {
      const from = Number(range[1]) - (range[2] === '0' ? 0 : 1);
      after.push(...before.slice(at, from));
      at = from;
    } else if (line.startsWith('+')) after.push(line.slice(1));
    else {
      expect(before[at]).toBe(line.slice(1));
      if (line.startsWith(' ')) after.push(line.slice(1));
      at += 1;
    }
  }
  return [...after, ...before.slice(at)];
}
