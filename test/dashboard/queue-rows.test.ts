import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchingRows, queueRows, reasonCounts, startsNext } from '../../dashboard/data/issue/queue-rows.ts';
import type { Queue } from '../../src/client/schema/system.ts';

const codes = ['blocked', 'project_full', 'claimed', 'constructor', '__proto__'];
const candidate = fc.record({
  issue_id: fc.uuid(),
  issue_identifier: fc.string(),
  title: fc.string(),
  state: fc.constantFrom('todo', 'in_progress'),
  priority: fc.option(fc.integer({ min: 1, max: 4 })),
  reason: fc.option(fc.record({ code: fc.constantFrom(...codes), text: fc.string() })),
  next_check_at: fc.constant(null),
});
const queue: fc.Arbitrary<Queue> = fc.record({
  candidates: fc.array(candidate, { maxLength: 20 }),
  next_poll_at: fc.constant(null),
});

describe('the queue', () => {
  it('keeps the order of each project, numbered from one without those that wait for other issues', () => {
    fc.assert(
      fc.property(queue, queue, (first, second) => {
        const rows = queueRows([
          { project: 'a', value: first },
          { project: 'unread', value: null },
          { project: 'b', value: second },
        ]);
        expect(rows.map((row) => row.candidate)).toEqual([...first.candidates, ...second.candidates]);
        const ofB = rows.filter(({ project }) => project === 'b');
        const places = ofB.map(({ place }) => place);
        expect(places.filter((place) => place !== null)).toEqual(
          second.candidates.filter(({ reason }) => reason?.code !== 'blocked').map((_, index) => index + 1),
        );
        for (const [index, { reason }] of second.candidates.entries())
          expect(places[index] === null).toBe(reason?.code === 'blocked');
      }),
    );
  });

  // @conforms dashboard.11
  it('is divided by reason: each row has exactly one, and rows that start come first', () => {
    fc.assert(
      fc.property(queue, (value) => {
        const rows = queueRows([{ project: 'a', value }]);
        const counts = reasonCounts(rows);
        const parts = counts.map(([reason]) => matchingRows(rows, { reason, text: '' }));
        expect(parts.map((part) => part.length)).toEqual(counts.map(([, each]) => each));
        expect(parts.flat().length).toBe(rows.length);
        if (value.candidates.some(({ reason }) => reason === null)) expect(counts[0]?.[0]).toBe(startsNext);
      }),
    );
  });

  it('is searched by every word, in any case, in identifier, title, state and reason', () => {
    const value: Queue = {
      next_poll_at: null,
      candidates: [
        {
          issue_id: 'i1',
          issue_identifier: 'BAT-1',
          title: 'Redirect loops',
          state: 'todo',
          priority: null,
          reason: { code: 'blocked', text: 'it waits for BAT-9' },
          next_check_at: null,
        },
      ],
    };
    const rows = queueRows([{ project: 'a', value }]);
    const found = (text: string): number => matchingRows(rows, { reason: '', text }).length;
    expect([found('LOOPS bat-9'), found('todo'), found('loops nothing'), found('')]).toEqual([1, 1, 0, 1]);
    expect(matchingRows(rows, { reason: 'project_full', text: '' })).toEqual([]);
  });
});
