import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupFound } from '../../dashboard/data/search/found-groups.ts';
import type { Found } from '../../src/client/schema/system.ts';

const result = fc.record({
  issue_id: fc.constantFrom('i1', 'i2', '__proto__'),
  issue_identifier: fc.string(),
  kind: fc.constantFrom('issue', 'transcript'),
  title: fc.option(fc.string()),
  excerpt: fc.string(),
  run_id: fc.option(fc.string()),
  seq: fc.option(fc.nat()),
  at: fc.constant(null),
});
const found: fc.Arbitrary<Found> = fc.record({ results: fc.array(result), is_cut: fc.boolean() });

describe('search results', () => {
  it('are grouped by issue and project, each result exactly once', () => {
    fc.assert(
      fc.property(found, found, (first, second) => {
        const groups = groupFound([
          { project: 'a', value: first },
          { project: 'unread', value: null },
          { project: 'b', value: second },
        ]);
        const shown = groups.flatMap(({ inIssue, inRuns }) => [...inIssue, ...inRuns]);
        expect(new Set(shown)).toEqual(new Set([...first.results, ...second.results]));
        expect(shown.length).toBe(first.results.length + second.results.length);
        expect(new Set(groups.map(({ key }) => key)).size).toBe(groups.length);
        for (const { key, project, inIssue, inRuns } of groups) {
          expect([...inIssue, ...inRuns].every(({ issue_id }) => key === `${project}/${issue_id}`)).toBe(true);
          expect(inIssue.every(({ kind }) => kind === 'issue')).toBe(true);
          expect(inRuns.every(({ kind }) => kind === 'transcript')).toBe(true);
        }
      }),
    );
  });
});
