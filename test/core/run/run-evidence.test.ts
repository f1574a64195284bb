import { expect, it } from 'vitest';
import {
  evidenceText,
  type GitEvidence,
  type Publication,
  publicationText,
} from '../../../src/core/run/run-evidence.ts';
import { telling } from '../../telling.ts';

const clean: GitEvidence = {
  head: 'abc1234def5678abc1234def5678abc1234def56',
  branch: 'baton/t-1',
  ahead: 0,
  changed: 0,
  untracked: 0,
  conflicts: 0,
};

it.each([
  [{}, ['abc1234', 'baton/t-1'], []],
  [{ ahead: 2, changed: 3, untracked: 4 }, ['abc1234', 'baton/t-1'], [2, 3, 4]],
  [{ ahead: 5, changed: 1, conflicts: 2, branch: null }, ['abc1234'], [5, 1, 2]],
  [{ head: null, branch: 'main', ahead: null, untracked: 1 }, ['main'], [1]],
] as const)('the evidence of a run with %j has %j and the counts %j', (changes, names, counts) => {
  const text = evidenceText({ changed: true, fingerprint: 'f', git: { ...clean, ...changes } });
  expect(text).toEqual(telling(...names, ...counts));
  // A count of nothing is left out, and so is the rest of a commit's name.
  expect(text.replaceAll(/abc1234|baton\/t-1/g, '').match(/\d+/g) ?? []).toEqual(counts.map(String));
});

it('without git the evidence distinguishes changed, unchanged and unknown', () => {
  const texts = [
    { changed: true, fingerprint: 'f' },
    { changed: false, fingerprint: 'f' },
    { changed: null, fingerprint: 'f' },
    { changed: null, fingerprint: null },
  ].map((seen) => evidenceText({ ...seen, git: null }));
  expect(new Set(texts).size).toBe(4);
});

const work = 'abc1234def5678abc1234def5678abc1234def56';
const brought: Publication = {
  outcome: 'published',
  branch: 'baton/t-1',
  commit: work,
  before: null,
  reason: null,
  elsewhere: null,
};
const nothing = { outcome: 'nothing' } as const;
const refused = { outcome: 'refused', reason: 'it is checked out in /src' } as const;
const other = { branch: 'my/other', commit: 'def'.padEnd(40, '0') };
const detached = { ...other, branch: null };

it.each([
  [{}, ['baton/t-1', 'abc1234']],
  [{ elsewhere: other }, ['baton/t-1', 'abc1234', 'my/other']],
  [nothing, ['baton/t-1', 'abc1234']],
  [{ ...nothing, elsewhere: other }, ['baton/t-1', 'abc1234', 'my/other']],
  [{ ...nothing, elsewhere: detached }, ['baton/t-1', 'abc1234', 'def0000']],
  [refused, ['baton/t-1', refused.reason]],
  [{ ...refused, commit: null, elsewhere: other }, ['baton/t-1', refused.reason, 'my/other']],
  [{ ...refused, branch: null, commit: null }, [refused.reason]],
] as const)('the publication of a branch with %j has %j', (changes, data) => {
  const text = publicationText({ ...brought, ...changes }, false);
  expect(text).toEqual(telling(...data));
  expect(text).not.toMatch(/null|undefined/);
});

it('each outcome of a publication has a different text', () => {
  const texts = [{}, nothing, refused].map((changes) => publicationText({ ...brought, ...changes }, false));
  expect(new Set(texts).size).toBe(3);
});

it('the text about a removed workspace does not say that commits are in it', () => {
  const left = publicationText({ ...brought, ...refused }, false);
  const gone = publicationText({ ...brought, ...refused }, true);
  expect(gone).toEqual(telling('baton/t-1', refused.reason));
  expect(left).not.toBe(gone);
  expect(publicationText({ ...brought, ...refused, commit: null }, false)).toBe(gone);
});
