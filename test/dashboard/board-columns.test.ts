import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BoardColumns,
  columnOf,
  findIssue,
  inPlace,
  shiftOf,
  withIssue,
  withoutIssue,
  withPage,
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
): BoardColumns => withPage(columns, state, { issues: names.map((id) => issue(id, state)), next });

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
            columns = withIssue(columns, issue(each.id, each.state));
            expected.set(each.id, each.state);
          }
        }
        const shown = states.flatMap((at) => ids(columns, at).map((name) => [name, at] as const));
        expect(shown.length).toBe(expected.size);
        expect(new Map(shown)).toEqual(expected);
      }),
    );
  });

  it('keep the position of a changed issue, and put a moved issue on top', () => {
    const before = page(page(new Map(), 'todo', ['a', 'b', 'c']), 'review', ['d']);
    expect(ids(withIssue(before, { ...issue('b', 'todo'), title: 'new' }), 'todo')).toEqual(['a', 'b', 'c']);
    const moved = withIssue(before, issue('b', 'review'));
    expect(ids(moved, 'todo')).toEqual(['a', 'c']);
    expect(ids(moved, 'review')).toEqual(['b', 'd']);
  });

  it('remove an issue that moved to a column that was not read', () => {
    const after = withIssue(page(new Map(), 'todo', ['a']), issue('a', 'done'));
    expect(findIssue(after, 'a')).toBeNull();
    expect(columnOf(after, 'done').isRead).toBe(false);
  });

  it('show an issue once even if a page repeats it or it moved meanwhile', () => {
    const first = page(new Map(), 'todo', ['a', 'b'], 'more');
    expect(columnOf(first, 'todo').next).toBe('more');
    const second = withPage(first, 'todo', { issues: [issue('b', 'todo'), issue('c', 'review')], next: null });
    expect(ids(second, 'todo')).toEqual(['a', 'b']);
    expect(columnOf(second, 'todo')).toMatchObject({ next: null, isRead: true });
  });

  it('have every issue of a reload once, and keep the reading position', () => {
    const some = fc.uniqueArray(fc.integer({ min: 0, max: 20 }).map(String), { maxLength: 15 });
    fc.assert(
      fc.property(some, some, (before, fresh) => {
        const old = columnOf(page(new Map(), 'todo', before), 'todo');
        const read = columnOf(page(new Map(), 'todo', fresh, 'more'), 'todo');
        const after = inPlace(old, read);
        const shown = after.issues.map(({ id }) => id);
        expect(after.next).toBe('more');
        expect([...shown].sort()).toEqual([...fresh].sort());
        const stays = before.filter((id) => fresh.includes(id));
        expect(shown.filter((id) => stays.includes(id))).toEqual(stays);
        // No new issue is between two that stay.
        const first = shown.findIndex((id) => stays.includes(id));
        if (first !== -1) expect(shown.slice(first, first + stays.length)).toEqual(stays);
        // The text is the new one.
        for (const issue of after.issues) expect(read.issues).toContain(issue);
      }),
    );
  });

  it('put new issues at the front on top, and issues beyond the end last', () => {
    const old = columnOf(page(new Map(), 'todo', ['a', 'b', 'c']), 'todo');
    const read = columnOf(page(new Map(), 'todo', ['new', 'c', 'a', 'older', 'b', 'oldest']), 'todo');
    expect(inPlace(old, read).issues.map(({ id }) => id)).toEqual(['new', 'older', 'a', 'b', 'c', 'oldest']);
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
