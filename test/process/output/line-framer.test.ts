import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineFramer, type OutputLine } from '../../../src/process/output/line-framer.ts';

const whole = { truncated: false, complete: true };

function frame(chunks: readonly Uint8Array[], maxLineBytes = 1000): OutputLine[] {
  const framer = new LineFramer(maxLineBytes);
  const lines = chunks.flatMap((chunk) => framer.push(Buffer.from(chunk)));
  const rest = framer.end();
  return rest === null ? lines : [...lines, rest];
}

describe('the line framer', () => {
  it('takes newline and carriage return with newline as the end of a line', () => {
    expect(frame([Buffer.from('one\ntwo\r\n\nfo\rur\n')])).toEqual(
      ['one', 'two', '', 'fo\rur'].map((text) => ({ text, ...whole })),
    );
  });

  it('returns a half line at the end as incomplete', () => {
    expect(frame([Buffer.from('one\ntw')])).toEqual([
      { text: 'one', ...whole },
      { text: 'tw', truncated: false, complete: false },
    ]);
  });

  it('returns nothing for no output', () => {
    expect(frame([])).toEqual([]);
  });

  it('cuts a line that is too long, drops its rest and continues with the next line', () => {
    expect(frame([Buffer.from('12345678\nnext\n')], 5)).toEqual([
      { text: '12345', truncated: true, complete: false },
      { text: 'next', ...whole },
    ]);
  });

  it('keeps a line of exactly the limit whole', () => {
    expect(frame([Buffer.from('12345\n')], 5)).toEqual([{ text: '12345', ...whole }]);
  });

  it('never cuts through a character', () => {
    for (const limit of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
      expect(frame([Buffer.from('é€𝄞zzzz\n')], limit)[0]?.text).not.toContain('\uFFFD');
    }
  });

  // @conforms process.2
  it('returns the same lines for any chunking of any bytes', () => {
    const byte = fc.oneof(fc.constantFrom(0x0a, 0x0d, 0xe2, 0x82, 0xac), fc.integer({ min: 0, max: 255 }));
    const bytes = fc.array(byte, { maxLength: 300 }).map((values) => Uint8Array.from(values));
    const cuts = fc.array(fc.nat(300), { maxLength: 20 });
    fc.assert(
      fc.property(bytes, cuts, fc.integer({ min: 1, max: 40 }), (all, at, limit) => {
        const edges = [0, ...at.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
        const chunks = edges.slice(1).map((edge, index) => all.subarray(edges[index], edge));
        expect(frame(chunks, limit)).toEqual(frame([all], limit));
        expect(
          frame(
            [...all].map((one) => Uint8Array.of(one)),
            limit,
          ),
        ).toEqual(frame([all], limit));
      }),
    );
  });

  it('keeps every byte of text when no line is too long', () => {
    const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\r', ''));
    fc.assert(
      fc.property(text, (value) => {
        const lines = frame([Buffer.from(value)], 100_000);
        expect(lines.map((line) => line.text + (line.complete ? '\n' : '')).join('')).toBe(value);
      }),
    );
  });
});
