import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  conformancePage,
  conformanceProblems,
  conformanceText,
  findTags,
  parseRows,
  readConformance,
} from '../../scripts/conformance.ts';

const page = readFileSync(path.resolve(import.meta.dirname, '../..', conformancePage), 'utf8');
const conformance = readConformance();

describe('docs/conformance.md', () => {
  it('has a test or a reason for every row, and a row for every tag', () => {
    expect(conformanceProblems(conformance)).toEqual([]);
  });

  it('is as `npm run docs` writes it', () => {
    expect(page).toBe(conformanceText(conformance));
  });

  it('is out of date after a test title changes', () => {
    const [first, ...others] = conformance.proofs;
    const renamed = { file: 'test/a.test.ts', title: 'another title', ids: first?.ids ?? [] };
    expect(page).not.toBe(conformanceText({ ...conformance, proofs: [renamed, ...others] }));
  });
});

describe('the check of conformance', () => {
  const rows = `# A document\n\n## A section\n\n- 1.1: it works\n- 1.2: it waits | not yet: Later.\n- 1.3: it stops | overruled: It goes on.\n`;
  const problemsOf = (text: string, ...tags: readonly string[]): readonly string[] =>
    conformanceProblems({
      documents: [parseRows(text)],
      proofs: [{ file: 'a.test.ts', title: 'works', ids: tags }],
    });

  it.each([
    ['a test for each row without a reason, and one for the replacement of an overruled row', rows, ['1.1', '1.3'], []],
    ['a row with neither', rows, [], ['neither test nor reason: 1.1']],
    ['a tag that names no row', rows, ['1.1', '1.9'], ['unknown row: 1.9 in a.test.ts']],
    ['an id that exists twice', `${rows}- 1.1: again\n`, ['1.1'], ['twice: 1.1']],
    ['a row that is not built yet but has a test', rows, ['1.1', '1.2'], ['has a test and a reason to have none: 1.2']],
  ])('judges %s', (_what, text, tags, problems) => {
    expect(problemsOf(text, ...tags)).toEqual(problems);
  });

  it.each(['- 1.1 it works', '- 1.1: it works | perhaps: It does.', 'it works'])('refuses %j as a row', (line) => {
    expect(() => parseRows(`# A document\n\n## A section\n\n${line}\n`)).toThrow();
  });

  it.each([
    ["it('works', () => {});", 'works'],
    ["describe(\n  'a part that\\'s long',\n  () => {});", "a part that's long"],
    ["it.each([['a'], ['b']])('works with %s', () => {});", 'works with %s'],
    ["it.skipIf(isRoot())('works', () => {});", 'works'],
    ["['a case in a table', 1],", 'a case in a table'],
    ["{ rule: 'slots', what: 'a case with a name' },", 'a case with a name'],
    ["it.skip('works', () => {});", null],
    ["it.todo('works');", null],
    ["const name = 'not a test';", null],
  ])('finds the title in %j', (text, title) => {
    // In two parts, so that this line is not a tag itself.
    const tag = `  // ${'@conforms'} 1.1, 1.2`;
    expect(findTags('a.test.ts', `${tag}\n  ${text}\n`)).toEqual([{ file: 'a.test.ts', title, ids: ['1.1', '1.2'] }]);
  });
});
