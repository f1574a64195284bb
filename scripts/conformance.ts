// Writes docs/conformance.md: the requirements in test/conformance/rows/, and the tests that prove them.
//
// A requirement is one line of a file in that folder, `- <id>: <text>`. A test proves it with a comment directly above it,
// `// @conforms <id>, <id>`. A requirement without a test ends with its reason: `| overruled: …`, `| not yet: …` or
// `| outside: …`. An overruled one may have tests of what Baton does instead.

import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const projectRoot = path.resolve(import.meta.dirname, '..');
const rowFolder = 'test/conformance/rows';
export const conformancePage = 'docs/conformance.md';

/** Titles longer than this are cut: the requirement says what is proven. */
const titleLength = 32;
const reasons = ['overruled', 'not yet', 'outside'] as const;
const statuses = ['proven', ...reasons] as const;
type Status = (typeof statuses)[number];

interface Row {
  readonly id: string;
  readonly text: string;
  readonly reason: { readonly status: Status; readonly why: string } | null;
}

export interface SourceDocument {
  readonly title: string;
  readonly intro: string;
  readonly sections: readonly { readonly title: string; readonly rows: readonly Row[] }[];
}

export interface Proof {
  readonly file: string;
  /** Null if no test follows the tag. */
  readonly title: string | null;
  readonly ids: readonly string[];
}

export interface Conformance {
  readonly documents: readonly SourceDocument[];
  readonly proofs: readonly Proof[];
}

export function readConformance(): Conformance {
  const read = (file: string): string => readFileSync(path.join(projectRoot, file), 'utf8');
  const filesLike = (pattern: string): readonly string[] => globSync(pattern, { cwd: projectRoot }).toSorted();
  return {
    documents: filesLike(`${rowFolder}/*.md`).map((file) => parseRows(read(file))),
    proofs: filesLike('test/**/*.ts').flatMap((file) => findTags(file, read(file))),
  };
}

export function parseRows(text: string): SourceDocument {
  const [head = '', ...parts] = text.split(/^## /m);
  const [title = '', ...intro] = head.replace(/^# /, '').split('\n');
  return {
    title,
    intro: intro.join('\n').trim(),
    sections: parts.map((part) => {
      const [heading = '', ...lines] = part.split('\n');
      return { title: heading, rows: lines.filter((line) => line !== '').map(parseRow) };
    }),
  };
}

function parseRow(line: string): Row {
  const {
    id,
    text,
    status,
    why = '',
  } = /^- (?<id>[\w.-]+): (?<text>.+?)(?: \| (?<status>.+?): (?<why>.+))?$/.exec(line)?.groups ?? {};
  const reason = reasons.find((each) => each === status);
  if (id === undefined || text === undefined || status !== reason) throw new Error(`not a row: ${line}`);
  return { id, text, reason: reason === undefined ? null : { status: reason, why } };
}

const tags = /^\s*\/\/ @conforms (?<ids>.+)$/gm;
const literals = /(?<quote>['"`])(?<text>(?:\\.|(?!\k<quote>).)*)\k<quote>/gs;

export function findTags(file: string, text: string): readonly Proof[] {
  return [...text.matchAll(tags)].map((tag) => ({
    file,
    title: titleOf(text.slice(tag.index + tag[0].length).trimStart()),
    ids: (tag.groups?.ids ?? '').split(',').map((id) => id.trim()),
  }));
}

/** The title of the test, of the suite or of the case in a table that a text begins with. */
function titleOf(text: string): string | null {
  const [first = ''] = text.split('\n', 1);
  if (/^\w+\.(?:skip|todo)\(/.test(first)) return null;
  // A case in a table is named by its longest text; the title of `it.each(table)('title', …)` comes after the table.
  if (first.startsWith('{'))
    return [...first.matchAll(literals)].map(textOf).toSorted((a, b) => b.length - a.length)[0] ?? null;
  const isEach = /^\w+\s*\.(?:each|for|skipIf|runIf)\b/.test(text);
  const start = text.search(isEach ? /(?<=\)\(\s*)['"`]/ : /['"`]/);
  const isNamed = /^(?:['"`[]|\w+\s*[.(<])/.test(text) && start >= 0;
  const [literal] = isNamed ? text.slice(start).matchAll(literals) : [];
  return literal === undefined ? null : textOf(literal);
}

function textOf(literal: RegExpMatchArray): string {
  return (literal.groups?.text ?? '').replaceAll(/\\(?=['"`])/g, '');
}

/** The problems of the rows and the tags; none if the page can be trusted. */
export function conformanceProblems({ documents, proofs }: Conformance): readonly string[] {
  const rows = rowsOf(documents);
  const known = new Set(rows.map(({ id }) => id));
  const proven = new Set(proofs.flatMap(({ ids }) => ids));
  return [
    ...rows.filter(({ id }, index) => rows.findIndex((row) => row.id === id) !== index).map(({ id }) => `twice: ${id}`),
    ...proofs
      .filter(({ title }) => title === null)
      .map(({ file, ids }) => `above no test: ${ids.join(', ')} in ${file}`),
    ...proofs.flatMap(({ file, ids }) =>
      ids.filter((id) => !known.has(id)).map((id) => `unknown row: ${id} in ${file}`),
    ),
    ...rows
      .filter(({ id, reason }) => reason === null && !proven.has(id))
      .map(({ id }) => `neither test nor reason: ${id}`),
    ...rows
      .filter(({ id, reason }) => reason !== null && reason.status !== 'overruled' && proven.has(id))
      .map(({ id }) => `has a test and a reason to have none: ${id}`),
  ];
}

function rowsOf(documents: readonly SourceDocument[]): readonly Row[] {
  return documents.flatMap(({ sections }) => sections.flatMap(({ rows }) => rows));
}

export function conformanceText({ documents, proofs }: Conformance): string {
  const summary = [
    tableRow(['document', 'rows', ...statuses]),
    '|---|---|---|---|---|---|',
    ...documents.map((document) => tableRow([document.title, ...counts([document])])),
    tableRow(['**all**', ...counts(documents)]),
  ];
  const chapters = documents.map((document) => {
    const [rows = 0, ...found] = counts([document]);
    const words = found.flatMap((count, index) => (count === 0 ? [] : [`${count} ${statuses[index]}`]));
    const table = [
      '| id | requirement | status |',
      '|---|---|---|',
      ...document.sections.flatMap((section) => [
        tableRow(['', `**${section.title}**`, '']),
        ...section.rows.map((row) => lineOf(row, proofs)),
      ]),
    ];
    const intro = `${rows} rows: ${words.join(', ')}. ${document.intro}`.trimEnd();
    return [`## ${document.title}`, intro, table.join('\n')].join('\n\n');
  });
  return `${[introduction, summary.join('\n'), ...chapters].join('\n\n')}\n`;
}

/** The number of rows, and of those with each status. */
function counts(documents: readonly SourceDocument[]): readonly number[] {
  const rows = rowsOf(documents);
  const withStatus = (status: Status): number =>
    rows.filter(({ reason }) => (reason?.status ?? 'proven') === status).length;
  return [rows.length, ...statuses.map(withStatus)];
}

const introduction = `# Conformance

This page lists what the documents behind Baton require, and the tests that prove it. "The specification" is Symphony's SPEC.md of
20 July 2026. "The reference" is its Elixir implementation at that time. "A seed" is one of the five documents that Baton was first
designed from. Where the specification says nothing, the seed decides; where the seed says nothing, the reference decides.

\`npm run docs\` writes this page from the rows in \`${rowFolder}/\` and from the comments \`// @conforms <id>\` next to the
tests; \`scripts/conformance.ts\` has the rules. The last column of a row names the test that proves it: \`core/dispatch/slots\` is the
file \`test/core/dispatch/slots.test.ts\`. After the file come the first words of the test's title, unless they repeat the requirement.

Baton does not do what an **overruled** row requires. The row says what Baton does instead, and then why. **Not yet** means that it is
not built. **Outside** means that it is no task of Baton.`;

function lineOf({ id, text, reason }: Row, proofs: readonly Proof[]): string {
  const mine = Map.groupBy(
    proofs.filter(({ ids }) => ids.includes(id)),
    ({ file }) => file.replace(/^test\//, '').replace(/\.test\.ts$/, ''),
  );
  const tests = [...mine].map(([file, each]) => {
    const titles = each.map(({ title }) => title ?? '').filter((title) => title !== text);
    return `\`${file}\` ${titles.map(shortTitle).join('; ')}`.trimEnd();
  });
  const why = reason === null ? [] : [`**${reason.status}** ${reason.why}`];
  return tableRow([id, text, [...why, ...tests].join('<br>')]);
}

/** Enough to find the test. A `<` is text, not the start of an element. */
function shortTitle(title: string): string {
  const short = title.length <= titleLength ? title : `${title.slice(0, titleLength).replace(/\s\S*$/, '')}…`;
  return short.replaceAll('<', '&lt;');
}

function tableRow(cells: readonly (string | number)[]): string {
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}
