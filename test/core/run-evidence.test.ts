import { expect, it } from 'vitest';
import { evidenceText, type GitEvidence } from '../../src/core/run-evidence.ts';

const clean: GitEvidence = {
  head: 'abc1234def5678abc1234def5678abc1234def56',
  branch: 'baton/t-1',
  ahead: 0,
  changed: 0,
  untracked: 0,
  conflicts: 0,
};

it.each([
  ['nothing beyond the base; head abc1234 on baton/t-1', {}],
  [
    '2 commits ahead of the base, 3 files changed, 1 new; head abc1234 on baton/t-1',
    { ahead: 2, changed: 3, untracked: 1 },
  ],
  [
    '1 commit ahead of the base, 1 file changed, 2 in conflict; head abc1234',
    { ahead: 1, changed: 1, conflicts: 2, branch: null },
  ],
  ['1 new; no commit yet on main', { head: null, branch: 'main', ahead: null, untracked: 1 }],
] as const)('the evidence of a run reads "%s"', (text, changes) => {
  expect(evidenceText({ changed: true, fingerprint: 'f', git: { ...clean, ...changes } })).toBe(text);
});

it.each([
  ['no git repository; the run changed something', true, 'f'],
  ['no git repository; the run changed nothing', false, 'f'],
  ['no git repository', null, 'f'],
  ['it could not be seen completely', null, null],
] as const)('without git it reads "%s"', (text, changed, fingerprint) => {
  expect(evidenceText({ changed, fingerprint, git: null })).toBe(text);
});
