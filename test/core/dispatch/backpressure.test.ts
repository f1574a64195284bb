import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backpressureGates, type UnfinishedWork } from '../../../src/core/dispatch/backpressure.ts';
import { planDispatch } from '../../../src/core/dispatch/dispatch-plan.ts';
import { openGates } from '../../../src/core/dispatch/gates.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { telling } from '../../telling.ts';

const inHand = (changes: { inReview?: number | null; claimed?: readonly string[] } = {}): UnfinishedWork => ({
  inReview: changes.inReview === undefined ? 0 : changes.inReview,
  claimed: new Set(changes.claimed ?? []),
});

const told = (
  work: UnfinishedWork,
  limits: { maxInReview?: number; maxClaimed?: number },
  { id = 'new', startsBefore = 0 } = {},
) => {
  const gates = backpressureGates(work, { maxInReview: 0, maxClaimed: 0, ...limits });
  const say = ({ refuse, passed }: (typeof gates)['review_limit']): { code: string | null; text: string } =>
    refuse(issue({ id }), startsBefore) ?? { code: null, text: passed(issue({ id }), startsBefore) };
  return { review: say(gates.review_limit), claim: say(gates.claim_limit) };
};

describe('the limit of issues in review', () => {
  it.each<[number | null, number, string | null, number[]]>([
    [4, 5, null, [4, 5]],
    [5, 5, 'max_in_review', [5]],
    [9, 5, 'max_in_review', [9, 5]],
    [1, 1, 'max_in_review', [1]],
    [0, 1, null, [0, 1]],
    [null, 5, 'max_in_review', [5]],
    [null, 0, null, []],
    [1_000, 0, null, []],
  ])(
    'with %s issues in review and a limit of %i answers %s with the setting and the numbers %j',
    (inReview, maxInReview, code, numbers) => {
      const { review } = told(inHand({ inReview }), { maxInReview });
      expect(review).toEqual({ code, text: telling('agent.max_in_review', ...numbers) });
    },
  );

  it('does not apply to a claimed issue', () => {
    const claimed = ['old'];
    for (const inReview of [null, 5, 50])
      expect(told(inHand({ inReview, claimed }), { maxInReview: 5 }, { id: 'old' }).review.code).toBeNull();
  });
});

describe('the limit of claims', () => {
  it.each<[number, number, number, string | null, number[]]>([
    [1, 0, 2, null, [1, 2]],
    [2, 0, 2, 'max_claimed', [2]],
    [1, 1, 2, 'max_claimed', [1, 2]],
    [0, 4, 3, 'max_claimed', [0, 4, 3]],
    [7, 3, 0, null, []],
  ])(
    'with %i claimed, %i before and a limit of %i answers %s with the setting and the numbers %j',
    (count, startsBefore, maxClaimed, code, numbers) => {
      const claimed = Array.from({ length: count }, (_, number) => `claimed-${number}`);
      const { claim } = told(inHand({ claimed }), { maxClaimed }, { startsBefore });
      expect(claim).toEqual({ code, text: telling('agent.max_claimed', ...numbers) });
    },
  );

  it('does not apply to a claimed issue', () => {
    expect(told(inHand({ claimed: ['old', 'other'] }), { maxClaimed: 1 }, { id: 'old' }).claim.code).toBeNull();
  });
});

it('both gates come after headroom and before the issue itself, each with its own refusal', () => {
  const full = backpressureGates(inHand({ inReview: 3, claimed: ['1', '2'] }), { maxInReview: 3, maxClaimed: 2 });
  const other = { refuse: () => null, passed: () => 'fine' };
  const gates = openGates({
    settings: settings(),
    taken: [],
    startMove: undefined,
    outside: { chosen: other, headroom: other, ...full },
  });
  expect(
    gates
      .askAll(issue({ id: 'new' }))
      .slice(0, 5)
      .map(({ gate, refusal }) => [gate, refusal?.code ?? null]),
  ).toEqual([
    ['free_here', null],
    ['headroom', null],
    ['review_limit', 'max_in_review'],
    ['claim_limit', 'max_claimed'],
    ['fields', null],
  ]);
});

describe('one decision', () => {
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
      taken: [],
      startMove: undefined,
      outside: { free_here, ...backpressureGates({ inReview, claimed: taken }, { ...settings().agent, ...agent }) },
    });
  };
  const startsOf = (given: Anything) => decide(given).filter(({ reason }) => reason === null).length;

  // @conforms cadence.28
  it('never makes more claims than the limit allows', () => {
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

  it('uses the whole limit: 0 and limits that are not reached refuse nothing', () => {
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

  it('reports the claim of a claimed issue and never these limits', () => {
    fc.assert(
      fc.property(anything, (given) => {
        for (const { issue: each, reason } of decide(given))
          if (given.claimed.includes(each.id)) expect(reason?.code).toBe('claimed');
      }),
    );
  });
});
