import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '../..');
const rows = [...readFileSync(path.join(root, 'docs/bounds.md'), 'utf8').matchAll(/`([^`]+)` in `(src\/[^`]+)` \|$/gm)];

it('the table of bounds says what the code says', () => {
  expect(rows.length).toBeGreaterThan(15);
  for (const [, bound = '', file = ''] of rows)
    expect(readFileSync(path.join(root, file), 'utf8').includes(bound), `${bound} in ${file}`).toBe(true);
});
