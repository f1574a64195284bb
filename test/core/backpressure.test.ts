import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backpressureGates, type WorkInHand } from '../../src/core/backpressure.ts';
import { planDispatch } from '../../src/core/dispatch-plan.ts';
import { openGates } from '../../src/core/gates.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';

const inHand = (changes: { inReview?: number | null; claimed?: readonly string[] } = {}): WorkInHand => ({
  inReview: changes.inReview === undefined ? 0 : changes.inReview,
  claimed: new Set(changes.claimed ?? []),
});

const told = (
  work: WorkInHand,
  limits: { maxInReview?: number; maxClaimed?: number },
  { id = 'new', startsBefore = 0 } = {},
) => {
  const gates = backpressureGates(work, { maxInReview: 0, maxClaimed: 0, ...limits });
  const say = ({ refuse, passed }: (typeof gates)['review_room']): string => {
    const refusal = refuse(issue({ id }), startsBefore);
    return refusal === null ? passed(issue({ id }), startsBefore) : `${refusal.code}: ${refusal.text}`;
  };
  return { review: say(gates.review_room), claim: say(gates.claim_room) };
};

describe('the room for review', () => {
  it.each<[number | null, number, string]>([
    [4, 5, '4 issues wait for review; agent.max_in_review is 5'],
    [5, 5, 'max_in_review: 5 issues wait for review; agent.max_in_review is 5'],
    [9, 5, 'max_in_review: 9 issues wait for review; agent.max_in_review is 5'],
    [1, 1, 'max_in_review: 1 issue waits for review; agent.max_in_review is 1'],
    [0, 1, '0 issues wait for review; agent.max_in_review is 1'],
    [null, 5, 'max_in_review: the issues in review are not counted yet; agent.max_in_review is 5'],
    [null, 0, 'agent.max_in_review sets no limit'],
    [1_000, 0, 'agent.max_in_review sets no limit'],
  ])('with %s issues in review and a limit of %i says: %s', (inReview, maxInReview, text) => {
    expect(told(inHand({ inReview }), { maxInReview }).review).toBe(text);
  });

  it('is not asked for by an issue that is claimed, counted or not', () => {
    const claimed = ['old'];
    for (const inReview of [null, 5, 50])
      expect(told(inHand({ inReview, claimed }), { maxInReview: 5 }, { id: 'old' }).review).toBe(
        'it is claimed already and goes on',
      );
  });
});

describe('the room for claims', () => {
  it.each<[number, number, number, string]>([
    [1, 0, 2, '1 issue is claimed; agent.max_claimed is 2'],
    [2, 0, 2, 'max_claimed: 2 issues are claimed; agent.max_claimed is 2'],
    [1, 1, 2, 'max_claimed: 1 issue is claimed and 1 starts before it; agent.max_claimed is 2'],
    [0, 3, 3, 'max_claimed: 0 issues are claimed and 3 start before it; agent.max_claimed is 3'],
    [7, 3, 0, 'agent.max_claimed sets no limit'],
  ])('with %i claimed, %i before and a limit of %i says: %s', (count, startsBefore, maxClaimed, text) => {
    const claimed = Array.from({ length: count }, (_, number) => `claimed-${number}`);
    expect(told(inHand({ claimed }), { maxClaimed }, { startsBefore }).claim).toBe(text);
  });

  it('is not asked for by an issue that is claimed', () => {
    expect(told(inHand({ claimed: ['old', 'other'] }), { maxClaimed: 1 }, { id: 'old' }).claim).toBe(
      'it is claimed already and goes on',
    );
  });
});

it('both come after the free room and before the issue itself, each with its own refusal', () => {
  const full = backpressureGates(inHand({ inReview: 3, claimed: ['1', '2'] }), { maxInReview: 3, maxClaimed: 2 });
  const other = { refuse: () => null, passed: () => 'fine' };
  const gates = openGates({
    settings: settings(),
    runningStates: [],
    startMove: undefined,
    outside: { chosen: other, free_room: other, ...full },
  });
  expect(
    gates
      .askAll(issue({ id: 'new' }))
      .slice(0, 5)
      .map(({ gate, refusal }) => [gate, refusal?.code ?? null]),
  ).toEqual([
    ['free_here', null],
    ['free_room', null],
    ['review_room', 'max_in_review'],
    ['claim_room', 'max_claimed'],
    ['fields', null],
  ]);
});

describe('one decision, whatever is in hand,', () => {
  const ids = Array.from({ length: 12 }, (_, number) => `${number}`);
  const anything = fc.record({
    candidates: fc.shuffledSubarray(ids),
    claimed: fc.subarray(ids),
    inReview: fc.option(fc.nat(8)),
    maxInReview: fc.nat(8),
    maxClaimed: fc.nat(8),
    maxConcurrentAgents: fc.integer({ min: 1, max: 12 }),
  });
  type Anything = typeof anything extends fc.Arbitrary<infer T> ? T : never;
  const decide = ({ candidates, claimed, inReview, ...agent }: Anything) => {
    const taken = new Set(claimed);
    const free_here = {
      refuse: ({ id }: { id: string }) => (taken.has(id) ? ({ code: 'claimed', text: 'it runs' } as const) : null),
      passed: () => '',
    };
    return planDispatch({
      issues: candidates.map((id) => issue({ id })),
      settings: settings({ agent }),
      runningStates: [],
      startMove: undefined,
      outside: { free_here, ...backpressureGates({ inReview, claimed: taken }, { ...settings().agent, ...agent }) },
    });
  };
  const startsOf = (given: Anything) => decide(given).filter(({ reason }) => reason === null).length;

  it('never makes more claims than the limit leaves room for', () => {
    fc.assert(
      fc.property(anything, (given) => {
        const starts = startsOf(given);
        if (given.maxClaimed > 0)
          expect(starts).toBeLessThanOrEqual(Math.max(0, given.maxClaimed - given.claimed.length));
        if (given.maxInReview > 0 && (given.inReview === null || given.inReview >= given.maxInReview))
          expect(starts).toBe(0);
      }),
    );
  });

  it('uses the room there is: limits of 0, and limits that are not reached, refuse nothing', () => {
    fc.assert(
      fc.property(anything, (given) => {
        const free = given.candidates.filter((id) => !given.claimed.includes(id)).length;
        const room = Math.min(free, given.maxConcurrentAgents);
        expect(startsOf({ ...given, maxInReview: 0, maxClaimed: 0 })).toBe(room);
        const isCounted = given.maxInReview === 0 || (given.inReview ?? Number.POSITIVE_INFINITY) < given.maxInReview;
        const left = given.maxClaimed === 0 ? room : Math.max(0, given.maxClaimed - given.claimed.length);
        expect(startsOf(given)).toBe(isCounted ? Math.min(room, left) : 0);
      }),
    );
  });

  it('tells an issue that is claimed of its claim and never of these limits', () => {
    fc.assert(
      fc.property(anything, (given) => {
        for (const { issue: each, reason } of decide(given))
          if (given.claimed.includes(each.id)) expect(reason?.code).toBe('claimed');
      }),
    );
  });
});
