import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const page = readFileSync(path.join(root, 'docs/conformance.md'), 'utf8');

interface Row {
  readonly first: string;
  readonly file: string;
  /** A part of the test's title; null where the row's id is in the title. */
  readonly title: string | null;
}

/** Rows whose last cell names a test: a file, and unless the row's id is in the title, a part of the title. */
const rows: Row[] = page
  .split('\n')
  .map((line) => /^\| (?<first>[^|]+?) \|.*\| `(?<file>test\/[^`]+)`(?: "(?<title>[^"]+)")? \|$/.exec(line)?.groups)
  .filter((groups) => groups !== undefined)
  .map(({ first = '', file = '', title }) => ({ first, file, title: title ?? null }));

describe('docs/conformance.md', () => {
  it('has rows', () => {
    expect(rows.length).toBeGreaterThan(100);
  });

  it.each(rows)('$first is held by a test in $file', ({ first, file, title }) => {
    expect(existsSync(path.join(root, file)), `${file} exists`).toBe(true);
    const text = readFileSync(path.join(root, file), 'utf8').replaceAll("\\'", "'");
    expect(text).toContain(title ?? `${first}: `);
  });

  it('names no rule twice', () => {
    const ids = rows.filter(({ title }) => title === null).map(({ first, file }) => `${first} ${file}`);
    expect(ids).toEqual([...new Set(ids)]);
  });
});
