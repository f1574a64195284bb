import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareForDispatch, inDispatchOrder, retriesInOrder } from '../../../src/core/dispatch/dispatch-order.ts';
import type { Issue } from '../../../src/core/issue/issue.ts';
import { type Role, roleRank, roles } from '../../../src/core/run/role.ts';
import { issue } from '../../fake/issues.ts';

const order = (issues: readonly Issue[]) => inDispatchOrder(issues).map(({ identifier }) => identifier);
const day = (text: string) => Date.parse(`${text}T00:00:00Z`);

// @conforms O1
it('sorts by priority, then by age, then by identifier', () => {
  const issues = [
    issue({ identifier: 'MT-201', priority: 1, createdAt: day('2026-01-02') }),
    issue({ identifier: 'MT-200', priority: 1, createdAt: day('2026-01-01') }),
    issue({ identifier: 'MT-199', priority: 2, createdAt: day('2025-12-01') }),
  ];
  expect(order(issues)).toEqual(['MT-200', 'MT-201', 'MT-199']);
});

// @conforms history-32
it('sorts no priority, zero, five and fractions after four, and an unknown time last', () => {
  const issues = [
    issue({ identifier: 'none', priority: null, createdAt: 1 }),
    issue({ identifier: 'zero', priority: 0, createdAt: 2 }),
    issue({ identifier: 'half', priority: 1.5, createdAt: 3 }),
    issue({ identifier: 'timeless', priority: 5, createdAt: null }),
    issue({ identifier: 'four', priority: 4, createdAt: 9 }),
  ];
  expect(order(issues)).toEqual(['four', 'none', 'zero', 'half', 'timeless']);
});

// @conforms scheduling.1
it('gives the same order for every order of arrival', () => {
  const anyIssue = fc.record({
    identifier: fc.string({ minLength: 1 }),
    priority: fc.option(fc.integer({ min: -1, max: 6 })),
    createdAt: fc.option(
      fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY)),
    ),
  });
  const distinct = fc.uniqueArray(anyIssue, { selector: ({ identifier }) => identifier });
  fc.assert(
    fc.property(distinct, fc.infiniteStream(fc.nat()), (parts, keys) => {
      const issues = parts.map((part) => issue(part));
      const shuffled = issues.map((each) => ({ each, key: keys.next().value ?? 0 })).toSorted((a, b) => a.key - b.key);
      expect(order(shuffled.map(({ each }) => each))).toEqual(order(issues));
      expect(inDispatchOrder(issues)).toEqual(issues.toSorted(compareForDispatch));
    }),
  );
});

/** Every role that there is, in the order of seed 4; equals share a row. */
const rows: readonly (readonly Role[])[] = [
  ['setup', 'intake'],
  ['judge', 'phase_judge'],
  ['phase'],
  ['worker', 'planner'],
  ['scanner', 'learner'],
];

// @conforms 4.20, 4.108, 4.110, 4.111
it('ranks every role by the order of its start', () => {
  expect(roles).toEqual(rows.flat());
  expect(rows.map((row) => row.map(roleRank))).toEqual(rows.map((row, rank) => row.map(() => rank)));
});

// @conforms 4.13
it('sorts due retries by role, then as new work; one whose issue is unknown comes last of its role', () => {
  const known = [
    issue({ id: 'a', identifier: 'A', priority: 1, createdAt: 1 }),
    issue({ id: 'b', identifier: 'B', priority: 4, createdAt: 9 }),
    issue({ id: 'c', identifier: 'C', priority: 4, createdAt: 2 }),
  ];
  const retries = (['a', 'b', 'c', 'd'] as const).flatMap((id) =>
    (['worker', 'judge'] as const).map((role) => ({ issue: { id, identifier: id.toUpperCase() }, role })),
  );
  const sorted = retriesInOrder(
    retries.toReversed(),
    ({ role }) => role,
    ({ issue: { id } }) => known.find((each) => each.id === id) ?? null,
  );
  const one = ['a', 'c', 'b', 'd'];
  expect(sorted.map(({ issue: { id }, role }) => `${role} ${id}`)).toEqual([
    ...one.map((id) => `judge ${id}`),
    ...one.map((id) => `worker ${id}`),
  ]);
});
