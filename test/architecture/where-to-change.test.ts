import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const page = readFileSync(path.join(root, 'docs/where-to-change.md'), 'utf8');
const rows = page.split('\n').filter((line) => /^\| (?!what \|)/.test(line));

/** The files and folders that a text names in code spans, from the root of the project. */
function pathsIn(text: string): readonly string[] {
  const named = /`(?<place>(?:src|test|docs|scripts|dashboard|bench)\/[^`\s]*|[\w-]+\.md)`/g;
  return [...text.matchAll(named)].map(({ groups }) => groups?.place ?? '');
}

function missingIn(text: string): readonly string[] {
  return pathsIn(text).filter((place) => !existsSync(path.join(root, place)));
}

describe('docs/where-to-change.md', () => {
  it('names only files and folders that exist', () => {
    expect(missingIn(page)).toEqual([]);
  });

  it('has at least thirty answers, each with a file to open first', () => {
    expect(rows.length).toBeGreaterThanOrEqual(30);
    expect(rows.filter((row) => pathsIn(row.split(' | ')[1] ?? '').length === 0)).toEqual([]);
  });

  it('is reported if it names a deleted path', () => {
    expect(missingIn('| a clock | `src/clock/clock.ts` | `src/clock/gone.ts`, `docs/gone/`, `npm run docs` |')).toEqual(
      ['src/clock/gone.ts', 'docs/gone/'],
    );
  });
});
