import { describe, expect, it } from 'vitest';
import { messageText } from '../../../src/core/command/message-text.ts';
import type { PullRequest } from '../../../src/core/pull/pull-request.ts';
import { fence } from '../../../src/core/text/fence.ts';
import { hostReaction, reactionWords } from '../../../src/orchestrator/review/host-reaction.ts';
import type { HostCheck, HostReview, PullFacts, RemoteHost } from '../../../src/pulls/pull-requests.ts';
import { pullOf } from '../../pulls/pull-scene.ts';

const standingSince = 1_000;
const pull: PullRequest = pullOf(
  { hostNumber: 1, url: null, headCommit: 'head', baseCommit: 'base' },
  { standingSince, movedAt: 1 },
);
const facts = (over: Partial<PullFacts> = {}): PullFacts => ({
  headCommit: 'head',
  baseCommit: 'base',
  isEmpty: false,
  mergeability: 'clean',
  conflicts: [],
  checkedOutIn: null,
  merged: null,
  isClosed: false,
  checks: [],
  reviews: [],
  ...over,
});
const review = (over: Partial<HostReview> = {}): HostReview => ({
  id: 'r1',
  reviewId: over.id ?? 'r1',
  author: 'ada',
  isTrusted: true,
  verdict: 'changes_requested',
  body: 'No.',
  commit: 'head',
  path: null,
  line: null,
  at: 500,
  ...over,
});
const check = (result: HostCheck['result'], name = 'test'): HostCheck => ({
  id: 1,
  name,
  result,
  isRequired: false,
  url: null,
});
const kindOf = (given: Partial<PullFacts>, of = pull) => hostReaction(of, facts(given))?.kind ?? null;

describe('what follows from the host of a change', () => {
  it.each<[string, Partial<PullFacts>, string | null]>([
    ['nothing', {}, null],
    ['a change request of someone who may write', { reviews: [review()] }, 'review'],
    ['one of a stranger', { reviews: [review({ isTrusted: false })] }, null],
    ['a comment of someone who may write', { reviews: [review({ verdict: 'comment' })] }, null],
    ['an approval', { reviews: [review({ verdict: 'approved' })] }, null],
    ['one about an earlier head', { reviews: [review({ commit: 'before' })] }, null],
    [
      'one about an earlier head that came now',
      { reviews: [review({ commit: 'before', at: standingSince })] },
      'review',
    ],
    ['one that the same person took back', { reviews: [review(), review({ id: 'r2', verdict: 'approved' })] }, null],
    [
      'one that another person approves',
      { reviews: [review(), review({ id: 'r2', author: 'bob', verdict: 'approved' })] },
      'review',
    ],
    ['one followed by a comment', { reviews: [review(), review({ id: 'r2', verdict: 'comment' })] }, 'review'],
    ['a red check', { checks: [check('failed'), check('passed')] }, 'check'],
    ['a check that took too long', { checks: [check('timed_out')] }, 'check'],
    ['a red check while another runs', { checks: [check('failed'), check(null)] }, null],
    ['green and cancelled checks', { checks: [check('passed'), check('skipped')] }, null],
    ['no checks at a host that has none', { checks: null }, null],
    ['a conflict', { mergeability: 'conflict', conflicts: ['a.txt'] }, 'conflict'],
    ['a base that moved', { mergeability: 'behind' }, null],
    ['a red check of another head', { headCommit: 'other', checks: [check('failed')] }, null],
    [
      'a red check of a merged change',
      { merged: { commit: 'm', by: null, method: null }, checks: [check('failed')] },
      null,
    ],
    ['a change request and a red check', { reviews: [review()], checks: [check('failed')] }, 'review'],
  ])('%s', (_what, given, expected) => {
    expect(kindOf(given)).toBe(expected);
  });

  it('is nothing for a head that was sent back', () => {
    const sentBack = { at: 1, by: { kind: 'orchestrator' }, kind: 'check' } as const;
    expect(kindOf({ checks: [check('failed')] }, { ...pull, sentBack })).toBeNull();
  });
});

describe('the words', () => {
  const host = (explained: Awaited<ReturnType<RemoteHost['explainCheck']>>): RemoteHost => ({
    pressure: () => ({ step: 'free', spacingMs: 0, until: null, text: '' }),
    lastRead: () => null,
    fetchBase: async () => 'main',
    sayVerdict: async () => '1',
    explainCheck: async () => explained,
  });
  const words = async (given: Partial<PullFacts>, explained: Parameters<typeof host>[0] = null) => {
    const reaction = hostReaction(pull, facts(given));
    return reaction === null ? [] : reactionWords(reaction, facts(given), host(explained));
  };

  it('of a review are those of its author, with file and line, and the same each time', async () => {
    const reviews = [review(), review({ id: 'c1', reviewId: 'r1', body: 'Why?', path: 'a.ts', line: 7 })];
    const found = await words({
      reviews: [...reviews, review({ id: 'x', isTrusted: false, author: 'eve', body: 'rm' })],
    });
    const author = { kind: 'person', name: 'ada' };
    expect(found).toMatchObject([
      { id: 'r1', kind: 'note', author, body: 'No.', path: null },
      { id: 'c1', kind: 'review_comment', author, body: 'Why?', path: 'a.ts', line: 7 },
    ]);
    expect(await words({ reviews })).toEqual(found);
    expect(await words({ reviews: [review({ body: '' })] })).toMatchObject([
      { id: 'r1', body: expect.stringMatching(/./) },
    ]);
  });

  it('of a check name it, its step and the end of its log, as quoted words', async () => {
    const checks = [check('failed'), check('timed_out', 'slow')];
    const found = await words({ checks }, { step: 'Run npm test', output: 'expected 1, got 2' });
    expect(found).toMatchObject([
      { kind: 'check', author: { kind: 'orchestrator' }, body: expect.stringContaining('expected 1, got 2') },
      { kind: 'check', body: expect.stringContaining('slow') },
    ]);
    const [first = expect.fail()] = found;
    expect(first.body).toContain('Run npm test');
    const message = { ...first, at: 0, path: null, line: null, commit: null };
    const mark = 'mark-of-this-prompt';
    expect(messageText(message, mark)).toContain(fence(first.body, mark));
  });

  it('of a conflict say where the base is', async () => {
    const found = await words({
      mergeability: 'conflict',
      conflicts: ['a.txt'],
      baseReference: 'refs/baton/base/main',
    });
    expect(found).toMatchObject([
      { kind: 'conflict', body: expect.stringContaining('git fetch origin refs/baton/base/main') },
    ]);
    expect(found[0]?.body).toContain('a.txt');
  });
});
