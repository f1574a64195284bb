import { LineCounter, parseDocument } from 'yaml';
import { BatonError } from '../core/baton-error.ts';
import { toPlainData } from './table/plain-data.ts';

/** The top of the front matter. Values are plain data: text, numbers, booleans, lists and maps. */
export type FrontMatter = Readonly<Record<string, unknown>>;

/** YAML this large is no settings; the limit bounds what a hostile file can cost, as parsing is the dear part. */
const largestFrontMatterChars = 64 * 1024;
const mostErrorsShown = 5;
const longestMessageChars = 200;
/** The front matter starts on the second line of the file. */
const linesBefore = 1;

/** YAML to plain data. Blank front matter is an empty map; whatever YAML finds doubtful is an error with its line. */
export function parseFrontMatter(text: string | null, path: string): FrontMatter {
  if (text === null) return {};
  if (text.length > largestFrontMatterChars) {
    throw new BatonError('workflow_too_large', `${path}: the front matter is larger than 64 KiB`, {
      details: { path, limit_chars: largestFrontMatterChars },
    });
  }
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // The library compares every key with every other; `toPlainData` finds repeats without that cost.
    uniqueKeys: false,
    // Tags beyond the core schema make values that are no plain data; they come back as warnings.
    resolveKnownTags: false,
  });
  const doubts = [...document.errors, ...document.warnings];
  if (doubts.length > 0) {
    const shown = doubts.slice(0, mostErrorsShown);
    const faults = shown.map(({ code, message, pos }) => at(lines, pos[0], code.toLowerCase(), message));
    throw parseError(path, faults, doubts.length);
  }
  const data = toPlainData(document, (offset, problem, message) =>
    parseError(path, [at(lines, offset, problem, message)], 1),
  );
  if (data === null) return {};
  if (!isMap(data)) {
    const found = Array.isArray(data) ? 'a list' : 'a single value';
    throw new BatonError('workflow_front_matter_not_a_map', `${path}: the front matter is ${found}, not a map`, {
      details: { path },
    });
  }
  return data;
}

/** Whether a value of the front matter is a map. */
export function isMap(value: unknown): value is FrontMatter {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One thing that is no good YAML. */
interface Fault {
  readonly line: number;
  readonly column: number;
  /** A word of ours, or the library's own code in lower case. */
  readonly problem: string;
  readonly words: string;
}

function at(lines: LineCounter, offset: number, problem: string, message: string): Fault {
  const { line, col } = lines.linePos(offset);
  // Some messages quote the text they are about, however long it is.
  return { line: line + linesBefore, column: col, problem, words: message.slice(0, longestMessageChars) };
}

function parseError(path: string, faults: readonly Fault[], count: number): BatonError {
  const more = count > faults.length ? `; and ${count - faults.length} more` : '';
  const shown = faults.map(({ line, column, words }) => `line ${line}, column ${column}: ${words}`).join('; ');
  const details = { path, faults: faults.map(({ line, column, problem }) => ({ line, column, problem })) };
  return new BatonError('workflow_parse_error', `${path}: the front matter is not valid YAML: ${shown}${more}`, {
    details,
  });
}
