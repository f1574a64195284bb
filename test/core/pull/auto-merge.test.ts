import { describe, expect, it } from 'vitest';
import {
  type AutoMergeFacts,
  type AutoMergeObjection,
  autoMergeObjections,
  isForAutoMerge,
  whyNotAutoMerged,
} from '../../../src/core/pull/auto-merge.ts';
import { pullOf } from '../../pulls/pull-scene.ts';

const commits = { hostNumber: null, url: null, headCommit: 'head-1', baseCommit: 'base-9' };
const person = { kind: 'person', name: 'Ada' } as const;
const pull = pullOf(commits);
const byPerson = (commit: string) => pullOf(commits, { approved: { at: 1, by: person, commit } });

const ready: AutoMergeFacts = {
  pull,
  isIssueReady: true,
  head: 'head-1',
  base: 'base-1',
  reviewedBase: 'base-1',
  judge: { status: 'approved', isDivided: false },
  reviews: [],
  checks: 'green',
  governing: [],
};

describe('a change that Baton may merge itself', () => {
  // @conforms judge.1
  it.each<readonly [string, Partial<AutoMergeFacts>, AutoMergeObjection | null]>([
    ['approved by its judge, green, on its base', {}, null],
    ['approved by a person instead', { pull: byPerson('head-1'), judge: null }, null],
    [
      'approved by a person, against its judge',
      { pull: byPerson('head-1'), judge: { status: 'rejected', isDivided: false } },
      null,
    ],
    ['approved by a reviewer at the host', { judge: null, reviews: [{ author: 'ada', verdict: 'approved' }] }, null],
    [
      'approved by the same reviewer who had asked for changes',
      {
        reviews: [
          { author: 'ada', verdict: 'changes_requested' },
          { author: 'ada', verdict: 'approved' },
        ],
      },
      null,
    ],
    [
      'against which a reviewer spoke who took it back at an earlier commit',
      {
        reviews: [
          { author: 'ada', verdict: 'changes_requested' },
          { author: 'ada', verdict: 'comment' },
        ],
      },
      null,
    ],
    [
      'approved by a reviewer at an earlier commit',
      { judge: null, reviews: [{ author: 'ada', verdict: 'comment' }] },
      'not_approved',
    ],
    ['approved at another commit', { pull: byPerson('head-0'), judge: null }, 'not_approved'],
    ['waiting for its judge', { judge: { status: 'wanted', place: 0, agent: 'default' } }, 'not_approved'],
    ['rejected', { judge: { status: 'rejected', isDivided: false } }, 'not_approved'],
    ['without any approval', { judge: null }, 'not_approved'],
    [
      'against which one of two reviewers speaks',
      {
        reviews: [
          { author: 'ada', verdict: 'approved' },
          { author: 'bob', verdict: 'changes_requested' },
        ],
      },
      'changes_requested',
    ],
    ['with a red check', { checks: 'red' }, 'checks_not_green'],
    ['with a check that runs', { checks: 'waiting' }, 'checks_not_green'],
    ['with a skipped check', { checks: 'incomplete' }, 'checks_not_green'],
    ['without checks', { checks: 'none' }, 'checks_not_green'],
    ['whose base moved', { base: 'base-2' }, 'base_moved'],
    ['whose base is gone', { base: null }, 'base_moved'],
    ['whose base nobody noted', { base: null, reviewedBase: null }, 'base_moved'],
    ['whose branch moved', { head: 'head-2' }, 'head_moved'],
    ['whose branch is gone', { head: null }, 'head_moved'],
    ['that controls agents', { governing: ['WORKFLOW.md'] }, 'governing_files'],
    ['whose files are unknown', { governing: null }, 'governing_files'],
    ['whose issue is not in review', { isIssueReady: false }, 'not_in_review'],
    [
      'that was sent back',
      { pull: pullOf(commits, { sentBack: { at: 1, by: person, kind: 'person' } }) },
      'not_in_review',
    ],
    ['that was closed', { pull: pullOf(commits, { closed: { at: 1, by: person } }) }, 'not_in_review'],
  ])('is one %s', (_which, changed, objection) => {
    expect(whyNotAutoMerged({ ...ready, ...changed })).toBe(objection);
  });

  it('has an objection for each condition', () => {
    expect(Object.keys(autoMergeObjections)).toEqual([
      ...['not_in_review', 'head_moved', 'not_approved', 'changes_requested'],
      ...['checks_not_green', 'governing_files', 'base_moved'],
    ]);
  });

  it.each([
    [['Docs', 'bug'], ['docs'], true],
    [['bug'], ['docs', ' Bug '], true],
    [['documents'], ['docs'], false],
    [['docs'], [], false],
    [[], ['docs'], false],
  ])('has a label: %j of %j is %s', (labels, wanted, expected) => {
    expect(isForAutoMerge(labels, wanted)).toBe(expected);
  });
});
