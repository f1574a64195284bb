import { expect, it } from 'vitest';
import { codePages, pageOf } from '../../scripts/docs.ts';

// @conforms runs.59
it.each(codePages)('$file $heading lists every code of its catalogue as `npm run docs` writes it', (page) => {
  const { now, wanted } = pageOf(page);
  expect(now).toBe(wanted);
  expect(page.rows.every(([code]) => now.includes(`| \`${code}\` |`))).toBe(true);
});
