import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { harmlessLine, harmlessText } from '../../../src/core/text/harmless-line.ts';
import { anyCharacter } from '../../any-character.ts';
import { runs } from '../../property-runs.ts';

/** Characters that a browser draws without width, or that change how other text is drawn. */
const dangerous = /\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}/u;

describe('text by other people', () => {
  it('has no control or format character except tabs and line ends', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const shown = harmlessText(text).replace(/[\t\n]/gu, '');
        expect(dangerous.exec(shown)?.[0].codePointAt(0)?.toString(16)).toBeUndefined();
      }),
      { numRuns: runs(2_000) },
    );
  });

  // @conforms dashboard.3
  it('has none for any Unicode character', () => {
    const left: string[] = [];
    for (let code = 0; code <= 0x10_ffff; code += 1) {
      if (code === 9 || code === 10) continue;
      const character = String.fromCodePoint(code);
      if (dangerous.test(character) && dangerous.test(harmlessText(character))) left.push(code.toString(16));
    }
    expect(left).toEqual([]);
  });

  it('names direction and zero-width characters, and shows a picture of an escape character', () => {
    expect(harmlessText('a\u202eb\u200bc\u001b[31m\u007f\ufeff')).toBe('a⟦U+202E⟧b⟦U+200B⟧c␛[31m␡⟦U+FEFF⟧');
    expect(harmlessText('\u{e0041}\u2066\ud800\u3164\ufe00')).toBe('⟦U+E0041⟧⟦U+2066⟧⟦U+D800⟧⟦U+3164⟧⟦U+FE00⟧');
  });

  it('leaves all other text unchanged', () => {
    for (const text of ['Grüße, 世界', 'שלום', 'a\tb\nc', '😀 é ⚠️', '<b>&amp;</b>'])
      expect(harmlessText(text)).toBe(text);
    expect(harmlessText('a\r\nb')).toBe('a\nb');
  });

  it('does not change when it is processed twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(harmlessText(harmlessText(text))).toBe(harmlessText(text));
      }),
    );
  });

  it('becomes one line for a single-line place', () => {
    expect(harmlessLine('  a\n\n b\tc ')).toBe('a b c');
  });
});
