import { expect, it } from 'vitest';
import { receiptOf } from '../../../src/core/pull/receipt.ts';

const issue = { identifier: 'BAT-1', title: 'Say hello', url: 'https://linear.app/acme/issue/BAT-1' };
const run = (totalTokens: number, costMicroUsd: number) => ({ totalTokens, costMicroUsd });
const rowsOf = (receipt: string): string[][] =>
  receipt
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| Baton |'))
    .map((line) => line.split(/(?<!\\)\|/).map((part) => part.trim()))
    .map((parts) => parts.slice(1, -1));

it('has the issue with its address, and what all runs used', () => {
  const receipt = receiptOf(
    issue,
    [run(1_000, 250_000), run(234_567, 1_000_000)],
    [{ name: 'unit' }, { name: 'lint' }],
  );
  expect(rowsOf(receipt).map(([, value]) => value)).toEqual([
    '[BAT-1](https://linear.app/acme/issue/BAT-1) Say hello',
    '2',
    '235,567',
    '$1.25',
    expect.stringMatching(/unit, lint/),
  ]);
});

it('claims no tokens, costs or checks that it does not know', () => {
  const values = rowsOf(receiptOf(issue, [run(0, 0)], []));
  expect(values).toHaveLength(4);
  expect(JSON.stringify(values.slice(2))).not.toMatch(/\d/);
});

it('keeps the words of an issue in their cell: no markup, mention, reference, comment or second row', () => {
  const title = 'x | y\n| Tokens | 0 |\n@ada #1 <!-- baton --> [a](b) `c` **d** <img src=x> \u202e';
  const receipt = receiptOf({ ...issue, identifier: 'B|1', title, url: 'https://e/x)|y' }, [run(5, 0)], []);
  const rows = rowsOf(receipt);
  expect(rows).toHaveLength(4);
  expect(rows.every((row) => row.length === 2)).toBe(true);
  expect(receipt).not.toMatch(/(?<!\\)[<[`#]|@a|\*\*|\u202e/);
});
