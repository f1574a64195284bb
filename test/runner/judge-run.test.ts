import { describe, expect, it } from 'vitest';
import { fenceRule } from '../../src/core/text/fence.ts';
import { judgePrompt } from '../../src/runner/judge-run.ts';
import type { JudgeBrief } from '../../src/runner/runner.ts';

const mark = 'abcdefgh-12345678';
const brief: JudgeBrief = {
  ...{ number: 1, title: 'A title', body: 'What I did', branch: 'baton/t-1', base: 'main', baseCommit: 'base-1' },
  ...{ commit: 'head-commit-2', checks: [], rounds: [], verdicts: [], artifacts: [] },
};
const prompt = (more: Partial<JudgeBrief> = {}, diff = '+a line') =>
  judgePrompt('TEMPLATE', { ...brief, ...more }, diff, mark);

/** The texts between the marks of the fence: data, whatever they say. */
function fenced(text: string): string[] {
  const marked = text.replace(fenceRule(mark), '').matchAll(/BEGIN-\S+\s([\s\S]*?)\sEND-/g);
  return [...marked].map(([, inside = '']) => inside);
}

describe('the prompt of the judge of a change', () => {
  it('has the template, the commit, the words of its author and the change, and fences what is not its own', () => {
    const text = prompt();
    expect(text).toContain('TEMPLATE');
    expect(text).toContain('head-commit-2');
    expect(fenced(text)).toEqual(['A title\n\nWhat I did', '+a line']);
    expect(text).toContain(fenceRule(mark));
  });

  it('has the result of every check, of Baton and of the host', () => {
    const checks = [
      { name: 'unit', result: 'passed' },
      { name: 'build', result: 'skipped' },
      { name: 'slow', result: null },
    ] as const;
    const lines = prompt({ checks }).split('\n');
    for (const { name, result } of checks)
      expect(lines.some((line) => line.includes(name) && line.includes(result ?? 'no result'))).toBe(true);
  });

  // @conforms judge.9
  it('has what earlier phases prepared, as data', () => {
    const artifacts = [
      { phase: 'research', text: 'the facts' },
      { phase: 'grooming', text: 'the criteria' },
    ];
    expect(fenced(prompt({ artifacts })).slice(0, 2)).toEqual(['the facts', 'the criteria']);
  });

  // @conforms judge.9
  it('has the earlier rounds: what judges and people said, and what became of each', () => {
    const by = { kind: 'person', name: 'Ada' } as const;
    const finding = { file: 'a.ts', line: 3, severity: 'must', problem: 'Wrong.', wanted: 'Right.' } as const;
    const said = { place: 0, runId: 'r', agent: 'x', promptVersion: 'v', at: 0, hostId: null } as const;
    const rounds: JudgeBrief['rounds'] = [
      { headCommit: 'first', sentBack: { at: 1, by, kind: 'judge' }, words: [] },
      { headCommit: 'second', sentBack: { at: 2, by, kind: 'person' }, words: ['Use the other way.'] },
      { headCommit: 'third', sentBack: { at: 2, by, kind: 'check' }, words: [] },
      { headCommit: 'fourth', sentBack: null, words: [] },
      { headCommit: 'head-commit-2', sentBack: null, words: [] },
    ];
    const verdicts = [
      { ...said, commit: 'first', verdict: 'rejected', summary: 'No.', findings: [finding] },
      { ...said, commit: 'second', verdict: 'approved', summary: 'Yes.', findings: [] },
      { ...said, commit: 'head-commit-2', verdict: 'approved', summary: 'By another judge.', findings: [] },
    ] as const;
    const text = prompt({ rounds, verdicts });
    const data = fenced(text).at(1) ?? '';
    const at = (word: string) => data.indexOf(word);
    const inOrder = [
      'first',
      'No.',
      'a.ts:3',
      'Wrong.',
      'Right.',
      'second',
      'Yes.',
      'Use the other way.',
      'third',
      'fourth',
    ];
    expect(inOrder.map(at)).toEqual(inOrder.map(at).toSorted((one, other) => one - other));
    expect(Math.min(...inOrder.map(at))).toBeGreaterThanOrEqual(0);
    const fates = data.split('\n').filter((line) => /^(first|second|third|fourth)/.test(line));
    expect(new Set(fates.map((line) => line.split(':')[1])).size).toBe(4);
    // The other judges of this commit are not quoted: each decides alone.
    expect(text).not.toContain('By another judge.');
  });

  it('says nothing about earlier rounds of the first commit', () => {
    const rounds = [{ headCommit: 'head-commit-2', sentBack: null, words: [] }];
    expect(fenced(prompt({ rounds }))).toHaveLength(2);
  });
});
