import { BatonError } from '../../../core/baton-error.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import { parseJson } from '../../../core/text/parse-json.ts';
import { boardErrors } from '../board-errors.ts';
import {
  checkEntries,
  type ImportEntry,
  type ImportProblem,
  type ImportReading,
  type RawEntry,
} from './import-entry.ts';
import { readMarkdown } from './read-markdown.ts';

export type ImportFormat = 'jsonl' | 'markdown';

/** A larger file is not a list of issues that a person wrote. */
export const largestImportBytes = 10 * 1024 * 1024;

/**
 * One import is one transaction, and all other writers wait for it: it must take a second, not the five seconds they
 * wait.
 */
const mostEntries = 5_000;

/** How many problems an error names; a file in another format has one in each line. */
const mostProblems = 50;

/** Returns the issues of a file, or throws `board_import_invalid` with every problem and its line. */
export function readImport(bytes: Uint8Array, format: ImportFormat): readonly ImportEntry[] {
  const text = decode(bytes);
  const raw = format === 'jsonl' ? readJsonLines(text) : readMarkdown(text);
  const { entries, problems } = checkEntries(raw.entries);
  refuseImport([...raw.problems, ...problems]);
  if (entries.length === 0) refuseImport([{ line: 1, problem: 'no_issue', message: emptyMessage[format] }]);
  if (entries.length > mostEntries) {
    const line = entries[mostEntries]?.line ?? 1;
    const message = `the file has more than ${mostEntries} issues; split it`;
    refuseImport([{ line, problem: 'too_many_issues', most: mostEntries, message }]);
  }
  return entries;
}

/** Throws `board_import_invalid` when there are problems. */
export function refuseImport(problems: readonly ImportProblem[]): void {
  if (problems.length === 0) return;
  const sorted = problems
    .toSorted((left, right) => left.line - right.line)
    // Messages quote the file and are printed.
    .map((problem) => ({ ...problem, message: harmlessLine(problem.message) }));
  const shown = sorted.slice(0, mostProblems).map(({ line, message }) => `\n  line ${line}: ${message}`);
  const more = sorted.length > mostProblems ? `\n  and ${sorted.length - mostProblems} more` : '';
  throw new BatonError(boardErrors.board_import_invalid, `The file cannot be imported:${shown.join('')}${more}`, {
    details: { problems: sorted.slice(0, mostProblems), count: sorted.length },
  });
}

const emptyMessage = {
  jsonl: 'the file has no issue; each line must be a JSON object with at least a title',
  markdown: 'the file has no issue; start one with `## Title` or `- [ ] Title`',
};

/** Decodes the bytes; lines end with LF. */
function decode(bytes: Uint8Array): string {
  if (bytes.byteLength > largestImportBytes) {
    throw new BatonError(boardErrors.board_import_invalid, 'The file cannot be imported: it has more than 10 MB.', {
      details: { problem: 'too_large', most_bytes: largestImportBytes },
    });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll(/\r\n?/g, '\n');
  } catch (cause) {
    throw new BatonError(boardErrors.board_import_invalid, 'The file cannot be imported: it is not UTF-8 text.', {
      cause,
      details: { problem: 'not_utf8' },
    });
  }
}

/** Reads one issue a line, each a JSON object; blank lines are skipped. The items of a JSON array count as lines. */
function readJsonLines(text: string): ImportReading<RawEntry> {
  const array = text.trimStart().startsWith('[') ? parse(text) : null;
  if (Array.isArray(array)) return readJsonLines(array.map((item) => JSON.stringify(item)).join('\n'));
  const entries: RawEntry[] = [];
  const problems: ImportProblem[] = [];
  for (const [index, content] of text.split('\n').entries()) {
    if (content.trim() === '') continue;
    const line = index + 1;
    const value = parse(content);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      // The schema check follows; here it is only known to be an object.
      entries.push({ line, fields: value as Record<string, unknown>, lines: {} });
    } else {
      const message = 'is not a JSON object; each line must be one issue';
      problems.push({ line, problem: 'not_an_object', message });
    }
  }
  return { entries, problems };
}

function parse(content: string): unknown {
  try {
    return parseJson(content);
  } catch {
    return undefined;
  }
}
