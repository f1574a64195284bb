import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type BoardStatus, boardStatuses } from '../../src/core/issue/board-status.ts';
import type { BoardIssues } from '../../src/store/tables/board-issues.ts';
import { runs } from '../property-runs.ts';
import { draft, onEngine, project, type StoreEngine } from './store.ts';

/** The board's tables: issues with labels, blockers and parents; comments; history. */
export function boardConformance(engine: StoreEngine): void {
  const key = (issueId: string) => ({ project, issueId });
  const ids = (issues: readonly { readonly id: string }[]) => issues.map(({ id }) => id);

  onEngine(engine, 'keeps the issues of the board', ({ open, place }) => {
    it('creates an issue with all its parts and returns it complete', async () => {
      const { boardIssues } = await open();
      await boardIssues.create(project, draft('epic'), 5);
      await boardIssues.create(project, draft('first', { status: 'done' }), 6);
      const { issue, created } = await boardIssues.create(
        project,
        draft('i1', {
          title: 'Title',
          description: 'Text',
          status: 'backlog',
          priority: 2,
          labels: ['b', 'a'],
          parentId: 'epic',
          branch: 'br',
          url: 'https://example.org/1',
          blockerIds: ['first', 'first'],
        }),
        7,
      );
      expect(created).toBe(true);
      expect(issue).toEqual({
        id: 'i1',
        identifier: 'BAT-3',
        title: 'Title',
        description: 'Text',
        status: 'backlog',
        priority: 2,
        labels: ['b', 'a'],
        parentId: 'epic',
        branch: 'br',
        url: 'https://example.org/1',
        blockers: [{ id: 'first', identifier: 'BAT-2', status: 'done' }],
        createdAt: 7,
        updatedAt: 7,
      });
      expect(await boardIssues.byIdentifier(project, 'BAT-3')).toEqual(issue);
      expect(await boardIssues.byIdentifier(project, 'BAT-9')).toBeNull();
    });

    it('numbers identifiers by project, and allows equal ids and keys in two projects', async () => {
      const { boardIssues } = await open();
      const made = await boardIssues.create('one', draft('x', { clientKey: 'k', title: 'of one' }), 1);
      const other = await boardIssues.create('two', draft('x', { clientKey: 'k', title: 'of two' }), 1);
      expect([made.created, other.created]).toEqual([true, true]);
      expect([made.issue.identifier, other.issue.identifier]).toEqual(['BAT-1', 'BAT-1']);
      expect(
        await boardIssues.setStatus({ project: 'one', issueId: 'x' }, { from: 'todo', to: 'done' }, 2),
      ).not.toBeNull();
      expect((await boardIssues.readMany('two', ['x']))[0]).toMatchObject({ title: 'of two', status: 'todo' });
    });

    it('creates one issue for one client key, however often and concurrently it is requested', async () => {
      const { boardIssues } = await open();
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          boardIssues.create(project, draft(`i${index}`, { clientKey: 'same' }), index),
        ),
      );
      expect(answers.filter(({ created }) => created)).toHaveLength(1);
      expect(new Set(answers.map(({ issue }) => issue.id)).size).toBe(1);
      expect((await boardIssues.create(project, draft('next'), 9)).issue.identifier).toBe('BAT-2');
    });

    it('gives every issue a unique number when many are created at once', async () => {
      const { boardIssues } = await open();
      const made = await Promise.all(
        Array.from({ length: 25 }, (_, index) => boardIssues.create(project, draft(`i${index}`), 1)),
      );
      expect(made.map(({ issue }) => Number(issue.identifier.slice(4))).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 25 }, (_, index) => index + 1),
      );
    });

    it('lets the holder of the board lock read and write without interference', async () => {
      const where = await place();
      const stores = [await open(where), await open(where)];
      const readThenWrite = (index: number) =>
        stores[index % 2]?.transaction(async ({ boardIssues, counters }) => {
          await boardIssues.lock(project);
          const { n = 0 } = await counters.read(key('i1'));
          await counters.set(key('i1'), 'n', n + 1);
        });
      await Promise.all(Array.from({ length: 16 }, (_, index) => readThenWrite(index)));
      expect(await stores[0]?.counters.read(key('i1'))).toEqual({ n: 16 });
    });

    it('rejects an id that exists, and a blocker or parent that does not', async () => {
      const { boardIssues } = await open();
      await boardIssues.create(project, draft('i1'), 1);
      const refused = { code: 'store_constraint' };
      await expect(boardIssues.create(project, draft('i1'), 1)).rejects.toMatchObject(refused);
      await expect(boardIssues.create(project, draft('i2', { blockerIds: ['no'] }), 1)).rejects.toMatchObject(refused);
      await expect(boardIssues.create(project, draft('i2', { parentId: 'no' }), 1)).rejects.toMatchObject(refused);
      expect((await boardIssues.create(project, draft('i2'), 1)).issue.identifier).toBe('BAT-2');
    });

    it('changes only the fields that a patch names', async () => {
      const { boardIssues } = await open();
      const full = draft('i1', { description: 'Text', priority: 1, labels: ['a'], branch: 'br', url: 'u' });
      const { issue } = await boardIssues.create(project, full, 1);
      expect(await boardIssues.update(key('i1'), { title: 'New' }, 2)).toEqual({
        ...issue,
        title: 'New',
        updatedAt: 2,
      });
      const cleared = { description: null, priority: null, labels: [], branch: null, url: null };
      expect(await boardIssues.update(key('i1'), cleared, 3)).toEqual({
        ...issue,
        ...cleared,
        title: 'New',
        updatedAt: 3,
      });
      expect(await boardIssues.update(key('i1'), {}, 4)).toMatchObject({ title: 'New', updatedAt: 4 });
      expect(await boardIssues.update(key('no'), { title: 'New' }, 2)).toBeNull();
      const wider = { title: 'Wider', status: 'done', id: 'i9' };
      expect(await boardIssues.update(key('i1'), wider, 5)).toMatchObject({ id: 'i1', title: 'Wider', status: 'todo' });
      expect(await boardIssues.update(key('i1'), { parentId: 'i1' }, 6)).toMatchObject({ parentId: 'i1' });
    });

    // @conforms api.3
    it('lists each issue that changed or got a comment since the last read, once, and only of its project', async () => {
      const { boardIssues, boardHistory, boardComments, boardChanges } = await open();
      for (const id of ['i1', 'i2', 'i3']) await boardIssues.create(project, draft(id), 1);
      await boardIssues.create('two', draft('x'), 1);
      const author = { kind: 'person', name: 'Ada' } as const;
      const change = (of: string, issueId: string) =>
        boardHistory.add({ project: of, issueId }, { at: 1, author, field: 'title', from: 'a', to: 'b', reason: null });
      await change(project, 'i1');
      const begun = await boardChanges.latest(project);
      expect(await boardChanges.after(project, begun, 10)).toEqual({ issues: [], place: begun, isAll: true });
      await change(project, 'i2');
      await change('two', 'x');
      await change(project, 'i2');
      await boardComments.add(key('i3'), { author, body: 'so', at: 2 });
      const seen = await boardChanges.after(project, begun, 10);
      expect(seen.issues.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
        { id: 'i2', identifier: 'BAT-2' },
        { id: 'i3', identifier: 'BAT-3' },
      ]);
      expect(await boardChanges.after(project, seen.place, 10)).toMatchObject({ issues: [], isAll: true });
      // Reading in small steps gives the same result.
      const first = await boardChanges.after(project, begun, 1);
      expect(first).toMatchObject({ isAll: false });
      expect((await boardChanges.after(project, first.place, 10)).place).toEqual(seen.place);
    });

    it('moves an issue only from the expected status', async () => {
      const { boardIssues } = await open();
      await boardIssues.create(project, draft('i1'), 1);
      const moved = await boardIssues.setStatus(key('i1'), { from: 'todo', to: 'in_progress' }, 2);
      expect(moved).toMatchObject({ status: 'in_progress', updatedAt: 2 });
      expect(await boardIssues.setStatus(key('i1'), { from: 'todo', to: 'done' }, 3)).toBeNull();
      expect(await boardIssues.setStatus(key('no'), { from: 'todo', to: 'done' }, 3)).toBeNull();
      expect(await boardIssues.readMany(project, ['i1'])).toEqual([moved]);
    });

    it('lets exactly one of many concurrent moves of an issue succeed', async () => {
      const { boardIssues } = await open();
      await boardIssues.create(project, draft('i1'), 1);
      const moves = await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          boardIssues.setStatus(key('i1'), { from: 'todo', to: 'in_progress' }, at + 2),
        ),
      );
      expect(moves.filter((moved) => moved !== null)).toHaveLength(1);
    });

    it('reads many in the requested order, and omits missing ones', async () => {
      const { boardIssues } = await open();
      for (const id of ['a', 'b', 'c']) await boardIssues.create(project, draft(id), 1);
      expect(ids(await boardIssues.readMany(project, ['c', 'no', 'a']))).toEqual(['c', 'a']);
      expect(await boardIssues.readMany(project, [])).toEqual([]);
    });

    it('finds by status in dispatch order: priority 1 to 4, then none; oldest; identifier', async () => {
      const { boardIssues } = await open();
      const made: [string, number | null, number, BoardStatus][] = [
        ['none', null, 1, 'todo'],
        ['p4', 4, 2, 'todo'],
        ['p1-late', 1, 9, 'in_progress'],
        ['p1-early', 1, 3, 'todo'],
        ['p9', 9, 4, 'todo'],
        ['done', 1, 1, 'done'],
        ['same-1', 2, 5, 'todo'],
        ['same-2', 2, 5, 'todo'],
      ];
      for (const [id, priority, at, status] of made) {
        await boardIssues.create(project, draft(id, { priority, status }), at);
      }
      const found = await boardIssues.byStatuses(project, ['todo', 'in_progress']);
      expect(ids(found)).toEqual(['p1-early', 'p1-late', 'same-1', 'same-2', 'p4', 'none', 'p9']);
      await boardIssues.update(key('p1-early'), { priority: null }, 20);
      expect(ids(await boardIssues.byStatuses(project, ['todo']))[0]).toBe('same-1');
      expect(await boardIssues.byStatuses(project, [])).toEqual([]);
      expect(await boardIssues.byStatuses('other', ['todo'])).toEqual([]);
    });

    it('counts by status', async () => {
      const { boardIssues } = await open();
      for (const [index, status] of (['todo', 'todo', 'review'] as const).entries()) {
        await boardIssues.create(project, draft(`i${index}`, { status }), 1);
      }
      expect(await boardIssues.countByStatus(project)).toEqual({ todo: 2, review: 1 });
      expect(await boardIssues.countByStatus('other')).toEqual({});
    });

    it('returns the children, the blockers and the blocked issues of an issue', async () => {
      const { boardIssues } = await open();
      await boardIssues.create(project, draft('epic'), 1);
      await boardIssues.create(project, draft('a', { parentId: 'epic' }), 2);
      await boardIssues.create(project, draft('b', { parentId: 'epic' }), 3);
      expect(ids(await boardIssues.children(key('epic')))).toEqual(['a', 'b']);
      expect(await boardIssues.addBlocker(key('b'), 'a')).toBe(true);
      expect(await boardIssues.addBlocker(key('b'), 'a')).toBe(false);
      await boardIssues.setStatus(key('a'), { from: 'todo', to: 'review' }, 4);
      expect((await boardIssues.readMany(project, ['b']))[0]?.blockers).toEqual([
        { id: 'a', identifier: 'BAT-2', status: 'review' },
      ]);
      expect(ids(await boardIssues.blockedBy(key('a')))).toEqual(['b']);
      expect(await boardIssues.removeBlocker(key('b'), 'a')).toBe(true);
      expect(await boardIssues.removeBlocker(key('b'), 'a')).toBe(false);
      expect(await boardIssues.blockedBy(key('a'))).toEqual([]);
    });

    it('lists what may be promoted in dispatch order, without what a person moved to the backlog', async () => {
      const { boardIssues, boardHistory } = await open();
      await boardIssues.create(project, draft('open'), 1);
      await boardIssues.create(project, draft('over', { status: 'cancelled' }), 1);
      for (const [id, changes] of Object.entries({
        late: {},
        urgent: { priority: 1, blockerIds: ['over'] },
        waits: { priority: 1, blockerIds: ['over', 'open'] },
        parked: { priority: 1 },
        returned: { priority: 2 },
      })) {
        await boardIssues.create(project, draft(id, { status: 'backlog', ...changes }), 2);
      }
      const move = { at: 3, field: 'status', from: 'todo', to: 'backlog', reason: null };
      await boardHistory.add(key('parked'), { ...move, author: { kind: 'person', name: 'ada' } });
      await boardHistory.add(key('returned'), { ...move, author: { kind: 'orchestrator' } });
      await boardHistory.add(key('late'), { ...move, author: { kind: 'person', name: 'ada' }, to: 'todo' });
      const page = async (limit: number, offset: number) =>
        ids(await boardIssues.promotable(project, { limit, offset }));
      expect(await page(10, 0)).toEqual(['urgent', 'returned', 'late']);
      expect(await page(1, 1)).toEqual(['returned']);
    });

    it('reads the blockers of more issues than fit in one query', async () => {
      const store = await open();
      await store.transaction(async ({ boardIssues }) => {
        await boardIssues.create(project, draft('first'), 1);
        for (let index = 0; index < 620; index++) {
          await boardIssues.create(project, draft(`i${index}`, { blockerIds: ['first'] }), 2);
        }
      });
      const found = await store.boardIssues.byStatuses(project, ['todo']);
      expect(found.filter(({ blockers }) => blockers[0]?.id === 'first')).toHaveLength(620);
    });
  });

  onEngine(engine, 'pages through a column', ({ open }) => {
    it('returns each issue once, the newest change first', async () => {
      const { boardIssues } = await open();
      for (const [index, at] of [5, 9, 9, 1, 9, 7].entries()) await boardIssues.create(project, draft(`i${index}`), at);
      const { issues, next } = await boardIssues.page(project, { status: 'todo', limit: 2, after: null });
      expect(ids(issues)).toEqual(['i4', 'i2']);
      const rest = await allPages(boardIssues, 4, next);
      expect(rest).toEqual(['i1', 'i5', 'i0', 'i3']);
      expect(await boardIssues.page(project, { status: 'done', limit: 5, after: null })).toEqual({
        issues: [],
        next: null,
      });
    });

    it('refuses a mark that no page gave', async () => {
      const { boardIssues } = await open();
      await expect(boardIssues.page(project, { status: 'todo', limit: 2, after: 'x' })).rejects.toMatchObject({
        code: 'usage_error',
      });
    });

    it('repeats nothing and omits no unchanged issue, whatever changes between two pages', async () => {
      const store = await open();
      const change = fc.record({ nth: fc.nat(11), to: fc.constantFrom('touch', 'done', 'new') });
      const seen = fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(change, { maxLength: 6 }),
        fc.uuid(),
        async (limit, changes, name) => {
          const { boardIssues } = store;
          const all = Array.from({ length: 12 }, (_, index) => `i${index}`);
          for (const [index, id] of all.entries()) await boardIssues.create(name, draft(id), index % 5);
          const shown: string[] = [];
          const changed = new Set<string>();
          let after: string | null = null;
          for (let at = 100; at === 100 || after !== null; at++) {
            const page = await boardIssues.page(name, { status: 'todo', limit, after });
            shown.push(...ids(page.issues));
            after = page.next;
            const next = changes.pop();
            if (next !== undefined) changed.add(await changeOne(boardIssues, name, next, at));
          }
          expect(new Set(shown).size).toBe(shown.length);
          expect(shown).toEqual(expect.arrayContaining(all.filter((id) => !changed.has(id))));
        },
      );
      await fc.assert(seen, { numRuns: runs(15) });
    });
  });

  onEngine(engine, 'keeps comments and history', ({ open }) => {
    it('returns comments in the order they were made, with their author', async () => {
      const { boardIssues, boardComments } = await open();
      for (const id of ['i1', 'i2']) await boardIssues.create(project, draft(id), 1);
      const first = await boardComments.add(key('i1'), { author: { kind: 'person', name: 'Ada' }, body: 'One', at: 9 });
      await boardComments.add(key('i2'), { author: { kind: 'orchestrator' }, body: 'Elsewhere', at: 2 });
      const second = await boardComments.add(key('i1'), { author: { kind: 'run', runId: 'r' }, body: 'Two', at: 1 });
      expect(second.seq).toBeGreaterThan(first.seq);
      expect(first).toMatchObject({ author: { kind: 'person', name: 'Ada' }, body: 'One', at: 9 });
      expect(await boardComments.list(key('i1'))).toEqual([first, second]);
      const lost = boardComments.add(key('no'), { author: { kind: 'orchestrator' }, body: 'x', at: 1 });
      await expect(lost).rejects.toMatchObject({ code: 'store_constraint' });
    });

    it('returns history in the order it was written, with any JSON values', async () => {
      const { boardIssues, boardHistory } = await open();
      await boardIssues.create(project, draft('i1'), 1);
      const author = { kind: 'orchestrator' } as const;
      const values = [null, 'todo', 7, true, ['a', { b: [] }], { deep: { er: null } }];
      for (const [index, to] of values.entries()) {
        const from = values[index - 1] ?? null;
        await boardHistory.add(key('i1'), {
          at: 10 - index,
          author,
          field: 'f',
          from,
          to,
          reason: index ? 'why' : null,
        });
      }
      const found = await boardHistory.list(key('i1'));
      expect(found.map(({ to }) => to)).toEqual(values);
      expect(found[1]).toMatchObject({ at: 9, author, field: 'f', from: null, to: 'todo', reason: 'why' });
      expect(found.map(({ seq }) => seq)).toEqual(found.map(({ seq }) => seq).toSorted((a, b) => a - b));
      expect(await boardHistory.list(key('no'))).toEqual([]);
    });

    it('replays to the current status after any moves', async () => {
      const store = await open();
      const moves = fc.array(
        fc.record({ from: fc.constantFrom(...boardStatuses), to: fc.constantFrom(...boardStatuses) }),
      );
      const replays = fc.asyncProperty(moves, fc.uuid(), async (wanted, id) => {
        await store.boardIssues.create(project, draft(id), 0);
        for (const [at, change] of wanted.entries()) {
          await store.transaction(async (tables) => {
            if ((await tables.boardIssues.setStatus(key(id), change, at)) === null) return;
            const entry = { at, author: { kind: 'orchestrator' }, field: 'status', reason: null } as const;
            await tables.boardHistory.add(key(id), { ...entry, ...change });
          });
        }
        const replayed = (await store.boardHistory.list(key(id))).reduce<unknown>((status, entry) => {
          expect(entry.from).toBe(status);
          return entry.to;
        }, 'todo');
        expect((await store.boardIssues.readMany(project, [id]))[0]?.status).toBe(replayed);
      });
      await fc.assert(replays, { numRuns: runs(20) });
    });
  });

  async function changeOne(
    boardIssues: BoardIssues,
    name: string,
    change: { readonly nth: number; readonly to: string },
    at: number,
  ): Promise<string> {
    const one = { project: name, issueId: `i${change.nth}` };
    if (change.to === 'touch') await boardIssues.update(one, { title: 'New' }, at);
    else if (change.to === 'new') await boardIssues.create(name, draft(`n${at}`), at);
    else await boardIssues.setStatus(one, { from: 'todo', to: 'done' }, at);
    return one.issueId;
  }

  async function allPages(boardIssues: BoardIssues, limit: number, from: string | null): Promise<string[]> {
    const shown: string[] = [];
    for (let after = from; after !== null; ) {
      const page = await boardIssues.page(project, { status: 'todo', limit, after });
      shown.push(...ids(page.issues));
      after = page.next;
    }
    return shown;
  }
}
