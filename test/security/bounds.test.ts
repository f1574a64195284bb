import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const cellsOf = (line: string): readonly string[] => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, ''));
const rowsOf = (file: string): readonly (readonly string[])[] =>
  read(file)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map(cellsOf);

const units: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2 };
const rows = rowsOf('docs/bounds.md').flatMap(([what = '', bound = '', , code = '']) => {
  const [, name, value, file] = /^`(\w+)(?::| =) ([\d_ *]+)` in `(src\/[^`]+)`$/.exec(code) ?? [];
  return name === undefined ? [] : [{ what, bound, name, value: value ?? '', file: file ?? '' }];
});

it('the table of bounds has the name and the value that the code has', () => {
  expect(rows.length).toBe(rowsOf('docs/bounds.md').length - 1);
  for (const { what, bound, name, value, file } of rows) {
    const written = new RegExp(`(?:^|[ {])${name}(?: =|:) ([\\d_ *]+)[;,]?`, 'm').exec(read(file))?.[1];
    expect([what, written]).toEqual([what, value]);
    const [, number = '', unit = ''] = /^([\d,]+)(?: (\w+))?/.exec(bound) ?? [];
    const product = value.split('*').reduce((sum, factor) => sum * Number(factor.replaceAll('_', '')), 1);
    expect([what, Number(number.replaceAll(',', '')) * (units[unit] ?? 1)]).toEqual([what, product]);
  }
});

it('every row of the table of attacks names tests that exist', () => {
  const attacks = read('SECURITY.md').split('### Attacks and what stops them')[1]?.split('\n### ')[0] ?? '';
  const named = attacks
    .split('\n')
    .filter((line) => /^\| (?!attacker|-)/.test(line))
    .map((line) => cellsOf(line));
  expect(named.length).toBeGreaterThan(25);
  for (const [attacker = '', , , tests = ''] of named) {
    const files = [...tests.matchAll(/`([^`]+)`/g)].map(([, test = '']) =>
      test.includes('/') ? `test/${test}.test.ts` : `test/security/${test}.test.ts`,
    );
    expect([attacker, files.length > 0, files.filter((file) => !existsSync(path.join(root, file)))]).toEqual([
      attacker,
      true,
      [],
    ]);
  }
});
