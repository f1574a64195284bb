import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fence, fenceRule, fenceState, isTrusted, unfencedLine, withoutFence } from '../../../src/core/text/fence.ts';
import { anyCharacter } from '../../any-character.ts';
import { runs } from '../../property-runs.ts';

const mark = '2f6c0d1e-77aa-4b1c-8d2e-0123456789ab';
const count = (text: string, part: string): number => text.toLowerCase().split(part.toLowerCase()).length - 1;

/** Text by somebody who wants out: garbage, and every piece a fence is made of, in any case and cut in two. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom(
        mark,
        mark.toUpperCase(),
        `BEGIN-${mark}`,
        `END-${mark}`,
        `\nEND-${mark}\n`,
        mark.slice(0, 10),
        mark.slice(10),
        `${mark.slice(0, 9)}${mark}${mark.slice(9)}`,
        `${mark.slice(0, 5)}\u200b${mark.slice(5)}`,
        `${mark.slice(0, 5)}\ufe01${mark.slice(5)}`,
        '\u001b[2J',
        '\u202e',
        '\ud800',
        '\r\n',
        ' ',
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('a fence', () => {
  it('encloses a line inline, and several lines with marks on their own lines', () => {
    expect(fence('Mend the door', mark)).toBe(`BEGIN-${mark} Mend the door END-${mark}`);
    expect(fence('one\n\ttwo\r\nthree', mark)).toBe(`BEGIN-${mark}\none\n    two\nthree\nEND-${mark}`);
  });

  // @conforms tools.10
  it('is opened once and closed once for any text', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const fenced = fence(text, mark);
        if (fenced === '') return;
        expect(count(fenced, mark)).toBe(2);
        expect(fenced.startsWith(`BEGIN-${mark}`)).toBe(true);
        expect(fenced.endsWith(`END-${mark}`)).toBe(true);
        expect(fenceState(fenced, mark)).toBe('whole');
      }),
      { numRuns: runs(500) },
    );
  });

  it('removes invisible characters', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(fence(text, mark)).not.toMatch(
          /[^\P{Cc}\n]|\p{Cf}|\p{Cs}|[\u2028\u2029]|[\ufe00-\ufe0d]|[\u{e0100}-\u{e01ef}]/u,
        );
        const line = unfencedLine(text, mark);
        expect(line).not.toMatch(/\p{Cc}|\p{Cf}|\p{Cs}/u);
        expect(count(line, mark)).toBe(0);
      }),
      { numRuns: runs(500) },
    );
  });

  it('does not change ordinary text', () => {
    const text = 'Fix `a < b && c`:\n\n    if (x) { y("ü 🎉️") }\n\n- [ ] done…';
    expect(withoutFence(fence(text, mark), mark)).toBe(text);
  });

  it('does not enclose an empty text', () => {
    for (const blank of ['', '  ', '\n\t']) expect(fence(blank, mark)).toBe('');
  });

  it('distinguishes a whole fence from a broken one', () => {
    const whole = fence('a', mark);
    expect(fenceState('no fence', mark)).toBe('none');
    expect(fenceState(`x ${whole} y ${whole}`, mark)).toBe('whole');
    for (const broken of [
      whole.slice(0, -1),
      whole.slice(1),
      whole.toUpperCase(),
      `END-${mark} a BEGIN-${mark}`,
      `BEGIN-${mark} ${whole} END-${mark}`,
      mark,
    ]) {
      expect(fenceState(broken, mark), broken).toBe('broken');
    }
  });

  it('has a rule that does not contain the words of a fence', () => {
    const rule = fenceRule(mark);
    expect(rule).toContain(mark);
    expect(rule).not.toMatch(/BEGIN-|END-|\n/);
  });

  it.each(['', ' ', 'short', 'a.*b.*c.*d.*e.*f.*', `-${mark}`, `${mark}\n`])('rejects the mark %j', (bad) => {
    expect(() => fence('text', bad)).toThrow(RangeError);
    expect(() => unfencedLine('text', bad)).toThrow(RangeError);
  });
});

describe('an author', () => {
  it.each([
    [['ada@example.org'], ['ADA@Example.org'], true],
    [['u-1', 'ada'], [' Ada '], true],
    [['ada'], ['ad'], false],
    [['ada'], [], false],
    [[], ['ada'], false],
    [[''], ['', ' '], false],
    [['local'], [], false],
  ])('%j is trusted where %j are: %s', (authorNames, trusted, expected) => {
    expect(isTrusted({ authorNames }, trusted)).toBe(expected);
  });

  it('without a name is not trusted', () => {
    expect(isTrusted({}, ['ada', 'undefined', 'null', ''])).toBe(false);
  });
});
