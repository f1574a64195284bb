import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  asTheyStart,
  type BoardColumns,
  columnOf,
  findIssue,
  newestFirst,
  shiftOf,
  withIssue,
  withoutIssue,
  withPage,
  withTotal,
} from '../../dashboard/data/board/board-columns.ts';
import type { IssueSummary } from '../../src/client/schema/issue.ts';

const states = ['todo', 'review', 'done'] as const;

function issue(id: string, state: string): IssueSummary {
  const none = { priority: null, labels: [], blockers: [], url: null, created_at: null, updated_at: null };
  return { id, identifier: id, title: id, state, activity: null, skipped: null, ...none };
}

function ids(columns: BoardColumns, state: string): readonly string[] {
  return columnOf(columns, state).issues.map(({ id }) => id);
}

const page = (
  columns: BoardColumns,
  state: string,
  names: readonly string[],
  next: string | null = null,
): BoardColumns => withPage(columns, state, { issues: names.map((id) => issue(id, state)), next, total: null });

describe('the columns of the board', () => {
  // @conforms dashboard.5
  it('have each issue once, in the column of its status, for any order of updates', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd');
    const state = fc.constantFrom(...states);
    const step = fc.oneof(
      fc.record({ kind: fc.constant('issue' as const), id, state }),
      fc.record({ kind: fc.constant('gone' as const), id }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let columns: BoardColumns = new Map();
        for (const each of states) columns = page(columns, each, []);
        const expected = new Map<string, string>();
        for (const each of steps) {
          if (each.kind === 'gone') {
            columns = withoutIssue(columns, each.id);
            expected.delete(each.id);
          } else {
            columns = withIssue(columns, issue(each.id, each.state), asTheyStart);
            expected.set(each.id, each.state);
          }
        }
        const shown = states.flatMap((at) => ids(columns, at).map((name) => [name, at] as const));
        expect(shown.length).toBe(expected.size);
        expect(new Map(shown)).toEqual(expected);
      }),
    );
  });

  it('have open issues in the order in which they start, and finished ones the newest first', () => {
    const made = (id: string, priority: number | null, at: string): IssueSummary => ({
      ...issue(id, 'todo'),
      priority,
      created_at: at,
      updated_at: at,
    });
    const all = [made('old', null, '1'), made('low', 4, '0'), made('new', 1, '9'), made('urgent', 1, '2')];
    const start = ['urgent', 'new', 'low', 'old'];
    const put = (order: typeof asTheyStart): BoardColumns =>
      all.reduce<BoardColumns>((columns, each) => withIssue(columns, each, order), page(new Map(), 'todo', []));
    expect(ids(put(asTheyStart), 'todo')).toEqual(start);
    expect(ids(put(newestFirst), 'todo')).toEqual(['new', 'urgent', 'old', 'low']);
    expect([...all].sort(asTheyStart).map(({ id }) => id)).toEqual(start);
  });

  it('keep the position of a changed issue, and count those that come and go', () => {
    const before = withTotal(page(page(new Map(), 'todo', ['a', 'b', 'c'], 'more'), 'review', ['d']), 'todo', 900);
    expect(ids(withIssue(before, { ...issue('b', 'todo'), title: 'new' }, asTheyStart), 'todo')).toEqual([
      'a',
      'b',
      'c',
    ]);
    const moved = withIssue(before, issue('b', 'review'), asTheyStart);
    expect(ids(moved, 'todo')).toEqual(['a', 'c']);
    expect(ids(moved, 'review')).toEqual(['b', 'd']);
    expect([columnOf(moved, 'todo').total, columnOf(moved, 'review').total]).toEqual([899, 2]);
    expect(columnOf(withoutIssue(moved, 'a'), 'todo').total).toBe(898);
  });

  it('remove an issue that moved to a column that was not read', () => {
    const after = withIssue(page(new Map(), 'todo', ['a']), issue('a', 'done'), asTheyStart);
    expect(findIssue(after, 'a')).toBeNull();
    expect(columnOf(after, 'done').isRead).toBe(false);
  });

  it('show an issue once even if a page repeats it or it moved meanwhile', () => {
    const first = page(new Map(), 'todo', ['a', 'b'], 'more');
    expect(columnOf(first, 'todo').next).toBe('more');
    const second = withPage(first, 'todo', {
      issues: [issue('b', 'todo'), issue('c', 'review')],
      next: null,
      total: null,
    });
    expect(ids(second, 'todo')).toEqual(['a', 'b']);
    expect(columnOf(second, 'todo')).toMatchObject({ next: null, isRead: true });
  });

  it('report by how many rows the visible part moved, even if its first row is gone', () => {
    const list = (...names: string[]): readonly IssueSummary[] => names.map((id) => issue(id, 'todo'));
    const before = list('a', 'b', 'c', 'd');
    expect(shiftOf(before, before, 2)).toBe(0);
    expect(shiftOf(before, list('x', 'y', 'a', 'b', 'c', 'd'), 2)).toBe(2);
    expect(shiftOf(before, list('c', 'd'), 2)).toBe(-2);
    expect(shiftOf(before, list('x', 'y', 'z', 'd'), 2)).toBe(1);
    expect(shiftOf(before, list('x'), 2)).toBe(0);
    expect(shiftOf([], list('x'), 0)).toBe(0);
  });
});
