import {
  type Alias,
  type Document,
  type DocumentOptions,
  isAlias,
  isMap as isMapNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  type ParseOptions,
  parseDocument,
  type Scalar,
  type SchemaOptions,
} from 'yaml';
import { BatonError } from '../core/baton-error.ts';

/** The top level of the front matter. Values are plain data: text, numbers, booleans, lists and maps. */
export type FrontMatter = Readonly<Record<string, unknown>>;

/** Settings are never this large. Parsing is the expensive part, so the limit bounds what a hostile file can cost. */
const largestFrontMatterChars = 64 * 1024;
const mostErrorsShown = 5;
const longestMessageChars = 200;
/** The front matter starts on the second line of the file. */
const linesBefore = 1;

/** Parses YAML to plain data. Blank front matter is an empty map; every YAML warning is an error with its line. */
export function parseFrontMatter(text: string | null, path: string): FrontMatter {
  if (text === null) return {};
  if (text.length > largestFrontMatterChars) {
    throw new BatonError('workflow_too_large', `${path}: the front matter is larger than 64 KiB`, {
      details: { path, limit_chars: largestFrontMatterChars },
    });
  }
  const lines = new LineCounter();
  const document = parsed(text, path, {
    lineCounter: lines,
    prettyErrors: false,
    // The library compares every key with every other; `toPlainData` finds repeats without that cost.
    uniqueKeys: false,
    // Tags beyond the core schema create values that are not plain data; the library reports them as warnings.
    resolveKnownTags: false,
  });
  const found = [...document.errors, ...document.warnings];
  if (found.length > 0) {
    const shown = found.slice(0, mostErrorsShown);
    const faults = shown.map(({ code, message, pos }) => at(lines, pos[0], code.toLowerCase(), message));
    throw parseError(path, faults, found.length);
  }
  const data = toPlainData(document, (offset, problem, message) =>
    parseError(path, [at(lines, offset, problem, message)], 1),
  );
  if (data === null) return {};
  if (!isMap(data)) {
    const form = Array.isArray(data) ? 'a list' : 'a single value';
    throw new BatonError('workflow_front_matter_not_a_map', `${path}: the front matter is ${form}, not a map`, {
      details: { path },
    });
  }
  return data;
}

/** At some depths of nesting the library reports its full stack as an error of the file, at others it throws. */
function parsed(text: string, path: string, options: ParseOptions & DocumentOptions & SchemaOptions): Document {
  try {
    return parseDocument(text, options);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw parseError(path, [{ line: 1, column: 1, problem: 'nested_too_deep', words: 'nested too deep' }], 1);
  }
}

/** Whether a value of the front matter is a map. */
export function isMap(value: unknown): value is FrontMatter {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One YAML error. */
interface Fault {
  readonly line: number;
  readonly column: number;
  /** A code of Baton, or the library's own code in lower case. */
  readonly problem: string;
  readonly words: string;
}

function at(lines: LineCounter, offset: number, problem: string, message: string): Fault {
  const { line, col } = lines.linePos(offset);
  // Some messages quote the faulty text, however long it is.
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

/** Limits far above any settings, so that anchors and aliases cannot expand a small file (a "YAML bomb"). */
const mostAliases = 100;
const mostValues = 20_000;
const deepestNesting = 50;

type Refuse = (offset: number, problem: string, message: string) => Error;

/**
 * Converts a YAML document to plain data. Keys become text, aliases are followed, and map entries that are null are
 * left out, because null means absent everywhere in a workflow file. In the result a key `__proto__` is an ordinary
 * key. `refuse` creates the error for repeated keys, keys that are not text, cycles, and exceeded limits.
 */
function toPlainData(document: Document, refuse: Refuse): unknown {
  let aliases = 0;
  let values = 0;

  const convert = (node: unknown, above: readonly unknown[]): unknown => {
    values += 1;
    if (values > mostValues) throw refuse(offsetOf(node), 'too_many_values', `more than ${mostValues} values`);
    if (above.length > deepestNesting) {
      throw refuse(offsetOf(node), 'nested_too_deep', `nested deeper than ${deepestNesting} levels`);
    }
    if (above.includes(node)) throw refuse(offsetOf(node), 'endless_alias', 'an alias that contains itself');
    const inside = [...above, node];
    if (isAlias(node)) return convert(follow(node), inside);
    if (isSeq(node)) return node.items.map((item) => convert(item, inside));
    if (isMapNode(node)) return convertMap(node.items, (value) => convert(value, inside), refuse);
    return isScalar(node) ? node.value : null;
  };

  const follow = (alias: Alias): unknown => {
    aliases += 1;
    if (aliases > mostAliases) throw refuse(offsetOf(alias), 'too_many_aliases', `more than ${mostAliases} aliases`);
    const target = alias.resolve(document);
    if (target === undefined) {
      throw refuse(offsetOf(alias), 'unknown_alias', `the alias *${alias.source} has no anchor before it`);
    }
    return target;
  };

  return convert(document.contents, []);
}

function convertMap(pairs: readonly Pair[], convert: (value: unknown) => unknown, refuse: Refuse): unknown {
  const entries = new Map<string, unknown>();
  for (const { key, value } of pairs) {
    if (!isScalar(key) || key.value === null) throw refuse(offsetOf(key), 'key_not_text', 'a key must be text');
    const name = keyText(key);
    if (entries.has(name)) {
      throw refuse(offsetOf(key), 'repeated_key', `the key ${JSON.stringify(name)} occurs twice`);
    }
    entries.set(name, convert(value));
  }
  return Object.fromEntries([...entries].filter(([, value]) => value !== null));
}

/** A numeric key keeps its spelling: `0x10` is not `16`. */
function keyText(key: Scalar): string {
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

/** The offset of a node in the text. Absent values are nodes too, or null. */
function offsetOf(node: unknown): number {
  return (node as Node | null | undefined)?.range?.[0] ?? 0;
}
