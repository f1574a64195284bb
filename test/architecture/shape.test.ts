import { describe, expect, it } from 'vitest';
import { folderSizes, importCycles, literalSpreads, readSource, shapeLimits } from '../../scripts/shape.ts';

const source = readSource();

describe('src', () => {
  it('has no import cycle of more files than the limit', () => {
    const [largest = []] = importCycles(source);
    expect(largest.length, largest.join('\n')).toBeLessThanOrEqual(shapeLimits.filesInCycle);
  });

  it('has no folder with more files than the limit', () => {
    const tooFull = folderSizes(source.map(({ file }) => file)).filter(
      ([, files]) => files > shapeLimits.filesInFolder,
    );
    expect(tooFull).toEqual([]);
  });

  it('writes the fields of an object one by one, and spreads no literal', () => {
    expect(literalSpreads(source)).toEqual([]);
  });
});

describe('the measure of shape', () => {
  it('finds every import cycle, the largest first, without files that only lead into one', () => {
    const imports = { a: ['b', 'x'], b: ['c'], c: ['a'], d: ['a', 'e'], e: ['d'], x: [], y: ['y', 'package'] };
    const files = Object.entries(imports).map(([file, targets]) => ({ file, imports: targets }));
    expect(importCycles(files)).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ]);
  });

  it('finds a spread literal', () => {
    const text = 'const a = {\n  ...{ b, c },\n  ...d,\n};\n';
    expect(literalSpreads([{ file: 'a.ts', text, lines: 4, imports: [] }])).toEqual(['a.ts:2']);
  });

  it('counts the files of a folder without its subfolders, the fullest first', () => {
    expect(folderSizes(['a/1.ts', 'a/b/1.ts', 'a/b/2.ts'])).toEqual([
      ['a/b', 2],
      ['a', 1],
    ]);
  });
});
