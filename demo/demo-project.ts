/** The files of the scratch project: a small library with a test, so that the issues have something real to change. */
export const demoProject: Readonly<Record<string, string>> = {
  'package.json': `{
  "name": "words",
  "version": "1.0.0",
  "type": "module",
  "scripts": { "test": "node run-tests.js" }
}
`,
  'README.md': `# words

Small functions on text. \`npm test\` runs the tests.
`,
  // One process for all tests; `node --test` starts one for each file.
  'run-tests.js': `import { readdirSync } from 'node:fs';

const tests = new URL('test/', import.meta.url);
for (const file of readdirSync(tests)) await import(new URL(file, tests));
`,
  'src/title-case.js': `/** Every word with a capital letter. */
export function titleCase(text) {
  return text.replace(/\\b\\w/g, (letter) => letter.toUpperCase());
}
`,
  'test/title-case.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { titleCase } from '../src/title-case.js';

test('gives every word a capital letter', () => {
  assert.equal(titleCase('one issue, one agent'), 'One Issue, One Agent');
});
`,
};
