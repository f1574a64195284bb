import { harmlessLine } from '../text/harmless-line.ts';

interface ReceiptIssue {
  readonly identifier: string;
  readonly title: string;
  readonly url: string | null;
}

interface ReceiptRun {
  readonly totalTokens: number;
  readonly costMicroUsd: number;
}

/**
 * What people see of Baton at the host of a pull request: what was asked, how many runs it took, and what they used. In
 * Markdown; the words of the issue cannot leave their cell.
 */
export function receiptOf(
  { identifier, title, url }: ReceiptIssue,
  runs: readonly ReceiptRun[],
  checks: readonly { readonly name: string }[],
): string {
  const sum = (of: (run: ReceiptRun) => number): number => runs.reduce((total, run) => total + of(run), 0);
  const [tokens, microUsd] = [sum(({ totalTokens }) => totalTokens), sum(({ costMicroUsd }) => costMicroUsd)];
  const isLink = url !== null && /^https?:\/\/[^\s<>()|]+$/.test(url);
  const name = isLink ? `[${cell(identifier)}](${url})` : cell(identifier);
  const names = checks.map((check) => cell(check.name)).join(', ');
  const rows = [
    ['Issue', `${name} ${cell(title)}`],
    ['Runs', String(runs.length)],
    ['Tokens', tokens === 0 ? 'not reported' : tokens.toLocaleString('en-US')],
    ['Cost', microUsd === 0 ? 'not reported' : `$${(microUsd / 1_000_000).toFixed(2)}`],
    ...(checks.length === 0 ? [] : [['Checks', `${names} (Baton runs them on each commit and shows the results)`]]),
  ];
  const table = rows.map(([what, value]) => `| ${what} | ${value} |`);
  return ['---', '', '| Baton | |', '|---|---|', ...table].join('\n');
}

/** Foreign text as plain words: no markup, no mention of a person, no reference to an issue. */
function cell(text: string): string {
  const line = harmlessLine(text).slice(0, 200);
  return line.replaceAll(/[\\`*_{}[\]<>()#|!~]/g, '\\$&').replaceAll('@', '@\u2060');
}
