import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const page = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
const mostFiles = 40;

/** How often the steps of a walk name each file. */
function filesIn(section: string): ReadonlyMap<string, number> {
  const steps = section.split('\n').filter((line) => /^(?:\d+\.| {3})/.test(line));
  const named = steps.join('\n').matchAll(/`(?<file>src\/[^`\s]+)`/g);
  const counts = new Map<string, number>();
  for (const { groups } of named) counts.set(groups?.file ?? '', (counts.get(groups?.file ?? '') ?? 0) + 1);
  return counts;
}

describe('the walk of an issue in docs/architecture.md', () => {
  const files = filesIn(page.split('\n## One issue, from left to right\n')[1]?.split('\n## ')[0] ?? '');

  it('starts at the poll and ends at the release', () => {
    expect([...files.keys()]).toEqual(
      expect.arrayContaining(['src/orchestrator/poll/poll.ts', 'src/orchestrator/runs/settle-run.ts']),
    );
  });

  it('names only files that exist', () => {
    expect([...files.keys()].filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  });

  it('names at most 40 files, each once or twice', () => {
    expect(files.size).toBeLessThanOrEqual(mostFiles);
    expect([...files].filter(([, times]) => times > 2)).toEqual([]);
  });

  it('is reported if it names a file three times', () => {
    expect(filesIn('1. `src/a.ts`\n   `src/a.ts`, `src/b.ts`\n2. `src/a.ts`\nnot `src/c.ts`')).toEqual(
      new Map([
        ['src/a.ts', 3],
        ['src/b.ts', 1],
      ]),
    );
  });
});
