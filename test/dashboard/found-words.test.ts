import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markFound } from '../../dashboard/data/search/found-words.ts';

const found = (text: string, query: string): readonly string[] =>
  markFound(text, query).flatMap((piece) => (piece.isFound ? [piece.text] : []));

describe('what was found in a text', () => {
  it('is marked as a whole, in any case and with any blanks, wherever it is', () => {
    expect(found('A Redirect  Loop, and a loop: REDIRECT LOOP', ' redirect loop ')).toEqual([
      'Redirect  Loop',
      'REDIRECT LOOP',
    ]);
  });

  // @conforms dashboard.13
  it('takes what was typed for letters, never for a pattern', () => {
    expect(found('a.b axb', 'a.b')).toEqual(['a.b']);
    expect(found('x', '.*')).toEqual([]);
    expect(found('[(', '[(')).toEqual(['[(']);
    expect(found('^$|\\/{}+?-', '^$|\\/{}+?-')).toEqual(['^$|\\/{}+?-']);
  });

  it('marks nothing where nothing was asked for', () => {
    expect(markFound('text', '  ')).toEqual([{ text: 'text', isFound: false }]);
    expect(markFound('', 'x')).toEqual([]);
  });

  it('is the same text again when the pieces are put together, and no piece is empty', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'A', 'b', ' ', '.', '(', '\\', 'İ', 'ß', '😀', '-') });
    fc.assert(
      fc.property(text, text, (said, query) => {
        const pieces = markFound(said, query);
        expect(pieces.map((piece) => piece.text).join('')).toBe(said);
        expect(pieces.every((piece) => piece.text !== '')).toBe(true);
      }),
    );
  });

  it('marks something in whatever contains the query', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1 }), fc.string(), (before, query, after) => {
        fc.pre(query.trim() !== '');
        expect(found(`${before}${query}${after}`, query).length).toBeGreaterThan(0);
      }),
    );
  });
});
