import type { ImportProblem, ImportReading, RawEntry } from './import-entry.ts';

/** Reads one issue a line, each a JSON object; blank lines are skipped. */
export function readJsonLines(text: string): ImportReading<RawEntry> {
  const entries: RawEntry[] = [];
  const problems: ImportProblem[] = [];
  for (const [index, content] of text.split('\n').entries()) {
    if (content.trim() === '') continue;
    const line = index + 1;
    const value = parse(content);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      // The check by the schema follows; until then only that it has keys is known.
      entries.push({ line, fields: value as Record<string, unknown>, lines: {} });
    } else {
      const message = 'is not a JSON object; the file has one issue a line';
      problems.push({ line, problem: 'not_an_object', message });
    }
  }
  return { entries, problems };
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
