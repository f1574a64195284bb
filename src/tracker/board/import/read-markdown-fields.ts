import type { ImportProblem } from './import-entry.ts';
import type { MarkdownLine } from './read-markdown.ts';

/** The lines that are fields, by their name in lower case. */
const fieldReaders: Readonly<Record<string, { key: string; read: (text: string) => unknown }>> = {
  labels: { key: 'labels', read: list },
  priority: { key: 'priority', read: (text) => (/^\d+$/.test(text) ? Number(text) : text) },
  'blocked by': { key: 'blocked_by', read: list },
  status: { key: 'status', read: (text) => text },
  parent: { key: 'parent', read: (text) => text },
  key: { key: 'key', read: (text) => text },
};

export interface MarkdownFields {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly lines: Readonly<Record<string, number>>;
  readonly description: string;
}

/**
 * Takes `Labels: a, b` and similar lines out of an issue's text, wherever they stand outside code: a blocker that
 * stayed unnoticed at the end of a description would let the issue start too early.
 */
export function readMarkdownFields(body: readonly MarkdownLine[], problems: ImportProblem[]): MarkdownFields {
  const fields: Record<string, unknown> = {};
  const lines: Record<string, number> = {};
  const text: string[] = [];
  for (const line of body) {
    const found = line.isFenced ? null : /^(?<name>[A-Za-z]+(?: by)?):\s*(?<value>.*?)\s*$/.exec(line.text)?.groups;
    const reader = found ? fieldReaders[found.name?.toLowerCase() ?? ''] : undefined;
    const firstLine = reader === undefined ? undefined : lines[reader.key];
    if (reader === undefined) {
      text.push(line.text);
    } else if (firstLine === undefined) {
      fields[reader.key] = reader.read(found?.value ?? '');
      lines[reader.key] = line.number;
    } else {
      const message = `${reader.key} is given twice, first in line ${firstLine}`;
      problems.push({ line: line.number, problem: 'field_twice', field: reader.key, first_line: firstLine, message });
    }
  }
  return { fields, lines, description: withoutBlankEnds(text) };
}

/** Indentation of the first line stays: it may begin a block of code. */
function withoutBlankEnds(lines: readonly string[]): string {
  return lines
    .join('\n')
    .replace(/^(?:[^\S\n]*\n)+/, '')
    .trimEnd();
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
