import {
  Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { BatonError } from '../core/baton-error.ts';
import { splitFrontMatter } from './split-front-matter.ts';

/** What a setup adds to a workflow file. */
export interface WorkflowAddition {
  /** For `workspace.setup`; null: it stays as it is. */
  readonly setup: string | null;
  /** For `review.checks`: in addition to those of the file, or in the place of one with the same name. */
  readonly checks: readonly { readonly name: string; readonly run: string }[];
  /** For the end of the prompt; empty: none. */
  readonly notes: string;
}

/**
 * The text of a workflow file with these additions. Only the sections `workspace` and `review` and the end of the prompt
 * change; all else keeps every byte, and those sections keep their comments. An addition that the file has already
 * changes nothing. Throws where the file has no place for it.
 */
export function withAddition(text: string, { setup, checks, notes }: WorkflowAddition): string {
  const { frontMatter, body } = splitFrontMatter(text);
  if (frontMatter === null) throw noPlace('front matter, between two lines with ---');
  const start = text.indexOf(frontMatter, text.indexOf('---') + 3);
  const between = text.slice(start + frontMatter.length, text.length - body.length);
  const newline = frontMatter.includes('\r\n') ? '\r\n' : '\n';
  let written = frontMatter;
  if (setup !== null) written = withSection(written, 'workspace', (section) => section.set('setup', setup));
  if (checks.length > 0) written = withSection(written, 'review', (section, of) => addChecks(of, section, checks));
  return `${text.slice(0, start)}${written}${between}${withNotes(body, notes, newline)}`;
}

/** Writes one top-level section again, with a change. */
function withSection(text: string, name: string, change: (section: YAMLMap, of: Document) => void): string {
  const document = parseDocument(text, { resolveKnownTags: false });
  const { contents } = document;
  if (document.errors.length > 0 || !(isMap(contents) || contents === null))
    throw noPlace('front matter that is a map');
  const pair = contents?.items.find(({ key }) => isScalar(key) && key.value === name);
  const old = placeOf(pair, text.length);
  const section = sectionOf(document, name);
  const before = JSON.stringify(section.toJSON());
  change(section, document);
  if (JSON.stringify(section.toJSON()) === before) return text;
  const was = text.slice(old.from, old.to);
  // Several lines of a script are unreadable between braces.
  if (section.items.some(({ value }) => String(isScalar(value) ? value.value : value).includes('\n')))
    section.flow = false;
  const alone = new Document({});
  alone.set(name, section);
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  let made: string;
  try {
    made = alone
      .toString({ lineWidth: 0, flowCollectionPadding: /\{\s/.test(was) })
      .trimEnd()
      .replaceAll('\n', newline);
  } catch (cause) {
    throw noPlace(`a section ${name} that does not refer to others`, cause);
  }
  const isLast = pair === undefined && text !== '' && !text.endsWith('\n');
  const rest = pair === undefined ? newline : (/\s*$/.exec(was)?.[0] ?? '');
  return `${text.slice(0, old.from)}${isLast ? newline : ''}${made}${rest}${text.slice(old.to)}`;
}

/** Where a section stands, with the comment behind it; the end of the text where it does not. */
function placeOf(pair: Pair | undefined, end: number): { readonly from: number; readonly to: number } {
  const [key, value] = [pair?.key, pair?.value] as [Partial<Node> | undefined, Partial<Node> | null | undefined];
  const from = key?.range?.[0];
  if (from === undefined) return { from: end, to: end };
  return { from, to: value?.range?.[2] ?? key?.range?.[2] ?? end };
}

/** An existing check of the same name keeps what else it has, such as its time limit. */
function addChecks(document: Document, review: YAMLMap, checks: WorkflowAddition['checks']): void {
  const written: unknown = review.get('checks', true);
  const list = isSeq(written) ? written : emptyList(document, review);
  for (const { name, run } of checks) {
    const at = list.items.findIndex((each) => nameOf(each) === name);
    const known = list.items[at];
    if (isMap(known)) known.set('run', run);
    else if (at >= 0) list.set(at, document.createNode(name === run ? run : { name, run }));
    else list.add(document.createNode({ name, run }));
  }
}

function emptyList(document: Document, review: YAMLMap): YAMLSeq {
  const list = document.createNode([]) as YAMLSeq;
  review.set('checks', list);
  return list;
}

/** A check that is written as one text has that as its name. */
function nameOf(item: unknown): string | null {
  if (isScalar(item)) return String(item.value).trim();
  return isMap(item) ? String(item.get('name') ?? '') : null;
}

function sectionOf(document: Document, name: string): YAMLMap {
  const section: unknown = document.get(name, true);
  if (isMap(section)) return section;
  const isEmpty = section === undefined || section === null || (isScalar(section) && section.value === null);
  if (!isEmpty) throw noPlace(`a map in the section ${name}`);
  const made = document.createNode({}) as YAMLMap;
  made.flow = false;
  document.set(name, made);
  return made;
}

function withNotes(body: string, notes: string, newline: string): string {
  const added = notes.trim().replaceAll(/\r?\n/g, newline);
  if (added === '' || body.includes(added)) return body;
  return `${body.trimEnd()}${body.trim() === '' ? '' : `${newline}${newline}`}${added}${newline}`;
}

function noPlace(what: string, cause?: unknown): BatonError {
  return new BatonError('workflow_parse_error', `The workflow file has no place for the commands: it needs ${what}.`, {
    cause,
    nextStep: 'Write the commands into the file yourself.',
  });
}
