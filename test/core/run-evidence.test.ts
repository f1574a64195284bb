import { expect, it } from 'vitest';
import { type Delivery, deliveryText, evidenceText, type GitEvidence } from '../../src/core/run-evidence.ts';

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
  ['it was not seen completely', null, null],
] as const)('without git it reads "%s"', (text, changed, fingerprint) => {
  expect(evidenceText({ changed, fingerprint, git: null })).toBe(text);
});

const work = 'abc1234def5678abc1234def5678abc1234def56';
const brought: Delivery = {
  outcome: 'brought',
  branch: 'baton/t-1',
  commit: work,
  before: null,
  reason: null,
  elsewhere: null,
};
const refused = { outcome: 'refused', reason: 'it is checked out in /src' } as const;
const other = { branch: 'my/other', commit: 'def'.padEnd(40, '0') };
const detached = { ...other, branch: null };

it.each([
  ['baton/t-1 is at abc1234 in the repository', {}],
  ["baton/t-1 is at abc1234 in the repository; more of the agent's work is on my/other", { elsewhere: other }],
  ['no new commits on baton/t-1 since abc1234', { outcome: 'nothing' }],
  [
    "no new commits on baton/t-1 since abc1234; the agent's work is on my/other",
    { outcome: 'nothing', elsewhere: other },
  ],
  [
    "no new commits on baton/t-1 since abc1234; the agent's work is on no branch, at def0000",
    { outcome: 'nothing', elsewhere: detached },
  ],
  ['baton/t-1 was not brought over: it is checked out in /src; the commits are in the workspace', refused],
  [
    "baton/t-1 was not brought over: it is checked out in /src; the agent's work is on my/other",
    { ...refused, commit: null, elsewhere: other },
  ],
  ['the branch was not brought over: it is checked out in /src', { ...refused, branch: null, commit: null }],
] as const)('what became of a branch reads "%s"', (text, changes) => {
  expect(deliveryText({ ...brought, ...changes }, false)).toBe(text);
});

it('of a workspace that is gone nobody reads that commits are in it', () => {
  const text = 'baton/t-1 was not brought over: it is checked out in /src';
  expect(deliveryText({ ...brought, ...refused }, true)).toBe(text);
});
