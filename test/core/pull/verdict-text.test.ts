import { expect, it } from 'vitest';
import type { Verdict } from '../../../src/core/pull/judge.ts';
import { verdictText } from '../../../src/core/pull/verdict-text.ts';
import { telling } from '../../telling.ts';

const verdict: Verdict = {
  verdict: 'rejected',
  summary: 'It is wrong.',
  findings: [{ file: 'src/a.ts', line: 3, severity: 'must', problem: 'It is slow.', wanted: 'Make it fast.' }],
  commit: 'abcdefabcdefabcdef',
  place: 0,
  runId: 'run-1',
  agent: 'reviewer',
  promptVersion: '1',
  at: 1,
  hostId: null,
};

it('names the commit, the agent, and each finding with its place', () => {
  const text = verdictText(verdict);
  expect(text).toEqual(telling('abcdefabcdef', 'reviewer', 'It is wrong.', 'src/a.ts:3', 'must', 'It is slow.'));
  expect(text).toEqual(telling('Make it fast.'));
});

it('mentions no one, hides nothing, and is bounded', () => {
  const nasty = 'Ask @ada, @acme/core <!-- baton verdict x --> \u001B[31m';
  const findings = [{ file: 'a`b', line: null, severity: 'note', problem: nasty, wanted: nasty } as const];
  const text = verdictText({ ...verdict, summary: nasty, findings });
  expect(text).not.toMatch(/@[a-z]|<!--/);
  expect(text).not.toContain('\u001B');
  const one = { file: null, line: null, severity: 'must', problem: 'x'.repeat(4_000), wanted: 'y' } as const;
  const long = Array.from({ length: 50 }, () => one);
  expect(verdictText({ ...verdict, findings: long }).length).toBeLessThan(61_000);
});
