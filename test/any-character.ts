import fc from 'fast-check';

const surrogates = { first: 0xd800, count: 0x800 };
const lastCodePoint = 0x10ffff;

/**
 * Any character of Unicode, also control characters: `fc.string({ unit: anyCharacter })`. It draws what the unit `binary` of
 * fast-check draws. That one keeps a map of all characters, which costs each worker 1.5 s of CPU and 180 MB.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.integer({ min: 0, max: lastCodePoint - surrogates.count }).map(
  (index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count),
  (character) => {
    const codePoint = typeof character === 'string' ? character.codePointAt(0) : undefined;
    if (codePoint === undefined || character !== String.fromCodePoint(codePoint)) throw new Error('not one character');
    if (codePoint < surrogates.first) return codePoint;
    if (codePoint < surrogates.first + surrogates.count) throw new Error('half a character');
    return codePoint - surrogates.count;
  },
);
