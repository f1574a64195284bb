import type { ImportProblem, ImportReading, RawEntry } from './import-entry.ts';
import { readMarkdownFields } from './read-markdown-fields.ts';

interface Section {
  readonly line: number;
  readonly title: string;
  readonly isDone: boolean;
  /** Each line with its number in the file, and whether it is inside a fenced block. */
  readonly body: MarkdownLine[];
}

export interface MarkdownLine {
  readonly number: number;
  readonly text: string;
  readonly isFenced: boolean;
}

/**
 * Reads issues from Markdown. A file with `## Title` lines has an issue for each of them, and task lists in it are part
 * of the descriptions, such as acceptance criteria. A file without such lines has an issue for each `- [ ] Title` that
 * is not indented. Text before the first issue, and text below a higher heading, belongs to no issue.
 */
export function readMarkdown(text: string): ImportReading<RawEntry> {
  const problems: ImportProblem[] = [];
  const entries = sectionsOf(markdownLines(text)).map(({ line, title, isDone, body }) => {
    const { fields, lines, description } = readMarkdownFields(dedented(body), problems);
    const status = isDone ? { status: 'done' } : {};
    return { line, lines, fields: { title, description, ...status, ...fields } };
  });
  return { entries, problems };
}

function sectionsOf(lines: readonly MarkdownLine[]): Section[] {
  const hasHeadings = lines.some((line) => headingTitle(line) !== null);
  const sections: Section[] = [];
  let current: Section | null = null;
  for (const line of lines) {
    const begun = hasHeadings ? beginHeading(line) : beginTask(line);
    if (begun !== null) {
      sections.push(begun);
      current = begun;
    } else if (!line.isFenced && (hasHeadings ? /^#\s/ : /^#{1,6}\s/).test(line.text)) {
      current = null;
    } else {
      current?.body.push(line);
    }
  }
  return sections;
}

function headingTitle({ text, isFenced }: MarkdownLine): string | null {
  return isFenced ? null : (/^##\s+(?<title>.*?)\s*#*\s*$/.exec(text)?.groups?.title ?? null);
}

function beginHeading(line: MarkdownLine): Section | null {
  const title = headingTitle(line);
  return title === null ? null : { line: line.number, title, isDone: false, body: [] };
}

function beginTask({ number, text, isFenced }: MarkdownLine): Section | null {
  const found = isFenced ? null : /^[-*+]\s+\[(?<mark>[ xX])\](?:\s+(?<title>.*?))?\s*$/.exec(text);
  if (!found) return null;
  const { mark, title = '' } = found.groups ?? {};
  return { line: number, title, isDone: mark !== ' ', body: [] };
}

function markdownLines(text: string): MarkdownLine[] {
  let fence: string | null = null;
  return text.split('\n').map((content, index) => {
    const found = /^\s*(?<mark>`{3,}|~{3,})/.exec(content)?.groups?.mark ?? null;
    const isFenced = fence !== null || found !== null;
    if (fence === null) fence = found;
    else if (found?.startsWith(fence) && content.trim() === found) fence = null;
    return { number: index + 1, text: content, isFenced };
  });
}

/** Removes the indentation that all lines share, as lines of a list item have. */
function dedented(lines: readonly MarkdownLine[]): MarkdownLine[] {
  const filled = lines.filter(({ text }) => text.trim() !== '');
  const indents = filled.map(({ text }) => text.length - text.trimStart().length);
  const shared = Math.min(...indents, Number.MAX_SAFE_INTEGER);
  return lines.map((line) => ({ ...line, text: line.text.slice(shared) }));
}
