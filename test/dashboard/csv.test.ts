import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvOf } from '../../dashboard/data/costs/csv.ts';

describe('a CSV file', () => {
  it('has a header, one line per row, and quotes only where needed', () => {
    expect(csvOf(['day', 'runs'], [['2026-11-15', 3]])).toBe('day,runs\r\n2026-11-15,3\r\n');
    expect(csvOf(['a'], [['x,"y"\nz']])).toBe('a\r\n"x,""y""\nz"\r\n');
  });

  // @conforms dashboard.10
  it('never lets text start a formula, even after blanks or in full-width characters', () => {
    const cells = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=cmd', ' \u200B=cmd', '\uFF1D1'];
    for (const cell of cells) expect(parse(csvOf([], [[cell]]))[1]).toEqual([`'${cell}`]);
    expect(csvOf([], [[-1, 'BAT-1']])).toBe('\r\n-1,BAT-1\r\n');
  });

  it('preserves every cell, whatever it contains', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', '=', '-', '\u202E', 'ü') });
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 2 })), (rows) => {
        const read = parse(csvOf(['x', 'y'], rows)).slice(1);
        expect(read.map((cells) => cells.map((each) => each.replace(/^'/u, '')))).toEqual(rows);
      }),
    );
  });
});

/** A reader by RFC 4180, written independently of the writer. */
function parse(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const { groups } of text.matchAll(/(?:"(?<quoted>(?:[^"]|"")*)"|(?<plain>[^,\r\n"]*))(?<end>,|\r\n)/gu)) {
    rows.at(-1)?.push(groups?.quoted?.replaceAll('""', '"') ?? groups?.plain ?? '');
    if (groups?.end === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}
