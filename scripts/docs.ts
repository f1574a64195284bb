// Writes the tables of codes in docs/ from the catalogues in src/: `npm run docs`. A test compares the two.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { commandAnswers } from '../src/core/command-answers.ts';
import { errorCatalogue } from '../src/core/error-catalogue.ts';
import { logEvents } from '../src/core/log-events.ts';
import { nextCodes, skipReasons } from '../src/core/waiting-codes.ts';

export interface CodePage {
  readonly file: string;
  /** The heading above the table, where the page has several. */
  readonly heading?: string;
  /** The first cell of a row is the code. */
  readonly rows: readonly (readonly string[])[];
}

export const codePages: readonly CodePage[] = [
  {
    file: 'docs/errors.md',
    rows: Object.entries(errorCatalogue).map(([code, { retryable, nextStep }]) => [
      code,
      retryable ? 'yes' : 'no',
      nextStep,
    ]),
  },
  { file: 'docs/command-answers.md', rows: Object.entries(commandAnswers) },
  { file: 'docs/log-events.md', rows: Object.entries(logEvents) },
  { file: 'docs/waiting.md', heading: '## Reasons', rows: Object.entries(skipReasons) },
  { file: 'docs/waiting.md', heading: '## What happens next', rows: Object.entries(nextCodes) },
];

export const projectRoot = path.resolve(import.meta.dirname, '..');

/** The page with the rows of the table replaced; what stands before and after the table stays. */
export function pageOf({ file, heading = '', rows }: CodePage): { readonly now: string; readonly wanted: string } {
  const now = readFileSync(path.join(projectRoot, file), 'utf8');
  const table = rows.map(([code, ...cells]) => `| \`${code}\` | ${cells.map(escapeCell).join(' | ')} |\n`).join('');
  const from = now.indexOf(heading);
  if (from < 0) throw new Error(`${file} has no heading "${heading}"`);
  const rest = now.slice(from).replace(/(?<=^\|(?:---\|)+\n)(?:\|.*\n)*/m, () => table);
  return { now, wanted: now.slice(0, from) + rest };
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}

if (import.meta.main) {
  for (const page of codePages) {
    const { now, wanted } = pageOf(page);
    if (now === wanted) continue;
    writeFileSync(path.join(projectRoot, page.file), wanted);
    console.log(`${page.file} is written`);
  }
}
