import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DiffLine, diffHunks } from '../../dashboard/data/diff/diff-lines.ts';

describe('the lines of a unified diff', () => {
  it('have their line numbers in the old and the new file', () => {
    const patch = [
      ...['diff --git a/x b/x', '--- a/x', '+++ b/x', '@@ -10,3 +10,4 @@ function pay() {'],
      ...[' same', '-old', '+new', '+more', ' end', ''],
    ].join('\n');
    expect(diffHunks(patch)).toEqual([
      {
        place: 'function pay() {',
        lines: [
          { kind: 'same', before: 10, after: 10, text: 'same' },
          { kind: 'removed', before: 11, after: null, text: 'old' },
          { kind: 'added', before: null, after: 11, text: 'new' },
          { kind: 'added', before: null, after: 12, text: 'more' },
          { kind: 'same', before: 12, after: 13, text: 'end' },
        ],
      },
    ]);
  });

  it('count one if the head of a hunk has no count', () => {
    expect(diffHunks('@@ -1 +1 @@\n-a\n+b\n')[0]?.lines).toHaveLength(2);
  });

  // @conforms dashboard.16
  it('may themselves look like the head of a hunk or of a file', () => {
    const [hunk, more] = diffHunks('@@ -1,2 +1,2 @@\n--- a/x\n-@@ -1 +1 @@\n+++ b/y\n+@@ -9 +9 @@\n');
    expect(hunk?.lines.map(({ text }) => text)).toEqual(['-- a/x', '@@ -1 +1 @@', '++ b/y', '@@ -9 +9 @@']);
    expect(more).toBeUndefined();
  });

  it('include the note about a missing end of line, which has no number', () => {
    const [hunk] = diffHunks('@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n');
    expect(hunk?.lines.map(({ kind }) => kind)).toEqual(['removed', 'note', 'added', 'note']);
  });

  it('are all preserved, whatever their text', () => {
    const text = fc.string().map((each) => each.replaceAll('\n', ' '));
    const line = fc.tuple(fc.constantFrom('+', '-', ' '), text);
    const hunk = fc.tuple(fc.integer({ min: 1, max: 5_000 }), fc.array(line, { minLength: 1, maxLength: 12 }));
    fc.assert(
      fc.property(fc.array(hunk, { maxLength: 4 }), (hunks) => {
        const patch = hunks.map(([start, lines]) => {
          const before = lines.filter(([sign]) => sign !== '+').length;
          const after = lines.filter(([sign]) => sign !== '-').length;
          const head = `@@ -${start},${before} +${start},${after} @@`;
          return [head, ...lines.map((each) => each.join(''))].join('\n');
        });
        const read = diffHunks(patch.join('\n'));
        expect(read.map(({ lines }) => lines.map(signed))).toEqual(hunks.map(([, lines]) => lines));
        for (const [index, { lines }] of read.entries()) {
          const numbers = lines.flatMap(({ after }) => after ?? []);
          expect(numbers).toEqual(numbers.map((_, at) => (hunks[index]?.[0] ?? 0) + at));
        }
      }),
    );
  });

  it('are empty for text that is not a diff, and garbage never throws', () => {
    fc.assert(
      fc.property(fc.string(), (garbage) => {
        expect(Array.isArray(diffHunks(garbage))).toBe(true);
      }),
    );
    expect(diffHunks('Binary files differ')).toEqual([]);
  });
});

function signed({ kind, text }: DiffLine): [string, string] {
  return [kind === 'added' ? '+' : kind === 'removed' ? '-' : ' ', text];
}
