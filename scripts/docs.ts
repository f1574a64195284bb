// Writes the generated parts of docs/: the tables of codes and settings from src/, and the page of conformance.
// `npm run docs`; tests compare the files with what this writes.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { agentBackends } from '../src/agent/backends.ts';
import { commandAnswers } from '../src/core/command/command-answers.ts';
import { nextCodes, skipReasons } from '../src/core/dispatch/waiting-codes.ts';
import { type ErrorEntry, errorCatalogue } from '../src/core/error-catalogue.ts';
import { logEvents } from '../src/core/log-events.ts';
import { homePaths, homeSecrets, systemPaths } from '../src/process/isolation/usual-paths.ts';
import { pullHosts } from '../src/pulls/hosts.ts';
import { trackerAdapters } from '../src/tracker/adapters.ts';
import { configurationTables } from './configuration.ts';
import { conformancePage, conformanceText, readConformance } from './conformance.ts';

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
    rows: Object.entries(allErrors()).map(([code, { retryable, nextStep }]) => [
      code,
      retryable ? 'yes' : 'no',
      nextStep,
    ]),
  },
  { file: 'docs/command-answers.md', rows: Object.entries(commandAnswers) },
  { file: 'docs/log-events.md', rows: Object.entries(logEvents) },
  { file: 'docs/waiting.md', heading: '## Reasons', rows: Object.entries(skipReasons) },
  { file: 'docs/waiting.md', heading: '## What happens next', rows: Object.entries(nextCodes) },
  {
    file: 'docs/isolation.md',
    heading: '## Your home',
    rows: homePaths.map(({ path: below, access, because }) => [`~/${below}`, access, because]),
  },
  {
    file: 'docs/isolation.md',
    heading: '## The system',
    rows: systemPaths.map(({ path: each, access, because }) => [each, access, because]),
  },
  {
    file: 'docs/isolation.md',
    heading: '## Known places of secrets',
    rows: homeSecrets.map((each) => [`~/${each}`]),
  },
  ...configurationTables,
];

/** The catalogue, and the errors that each adapter declares in its folder. */
export function allErrors(): Readonly<Record<string, ErrorEntry>> {
  const declared = [...trackerAdapters, ...agentBackends, ...pullHosts].map(({ errors }) => errors);
  return Object.assign({}, errorCatalogue, ...declared);
}

export const projectRoot = path.resolve(import.meta.dirname, '..');

/** The page with new rows in its table; the text before and after the table stays. */
export function pageOf({ file, heading = '', rows }: CodePage): { readonly now: string; readonly wanted: string } {
  const now = readFileSync(path.join(projectRoot, file), 'utf8');
  const table = rows
    .map(([code, ...cells]) => `| ${[`\`${code}\``, ...cells.map(escapeCell)].join(' | ')} |\n`)
    .join('');
  const from = now.indexOf(heading);
  if (from < 0) throw new Error(`${file} has no heading "${heading}"`);
  const rest = now.slice(from).replace(/(?<=^\|(?:---\|)+\n)(?:\|.*\n)*/m, () => table);
  return { now, wanted: now.slice(0, from) + rest };
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}

if (import.meta.main) {
  for (const page of codePages) write(page.file, pageOf(page).wanted);
  write(conformancePage, conformanceText(readConformance()));
}

function write(file: string, wanted: string): void {
  const place = path.join(projectRoot, file);
  if (readFileSync(place, 'utf8') === wanted) return;
  writeFileSync(place, wanted);
  console.log(`${file} is written`);
}
