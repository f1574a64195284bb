import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markFound } from '../../dashboard/data/search/found-words.ts';

const found = (text: string, query: string): readonly string[] =>
  markFound(text, query).flatMap((piece) => (piece.isFound ? [piece.text] : []));

describe('matches in a text', () => {
  it('are marked whole, in any case, with any blanks, at any position', () => {
    expect(found('A Redirect  Loop, and a loop: REDIRECT LOOP', ' redirect loop ')).toEqual([
      'Redirect  Loop',
      'REDIRECT LOOP',
    ]);
  });

  // @conforms dashboard.13
  it('treat the query as plain text, never as a pattern', () => {
    expect(found('a.b axb', 'a.b')).toEqual(['a.b']);
    expect(found('x', '.*')).toEqual([]);
    expect(found('[(', '[(')).toEqual(['[(']);
    expect(found('^$|\\/{}+?-', '^$|\\/{}+?-')).toEqual(['^$|\\/{}+?-']);
  });

  it('are none for an empty query', () => {
    expect(markFound('text', '  ')).toEqual([{ text: 'text', isFound: false }]);
    expect(markFound('', 'x')).toEqual([]);
  });

  it('split into non-empty pieces that join to the same text', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'A', 'b', ' ', '.', '(', '\\', 'İ', 'ß', '😀', '-') });
    fc.assert(
      fc.property(text, text, (said, query) => {
        const pieces = markFound(said, query);
        expect(pieces.map((piece) => piece.text).join('')).toBe(said);
        expect(pieces.every((piece) => piece.text !== '')).toBe(true);
      }),
    );
  });

  it('are found in every text that contains the query', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 1 }), fc.string(), (before, query, after) => {
        fc.pre(query.trim() !== '');
        expect(found(`${before}${query}${after}`, query).length).toBeGreaterThan(0);
      }),
    );
  });
});
