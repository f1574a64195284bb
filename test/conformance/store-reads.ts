import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type BoardStatus, boardStatuses } from '../../src/core/issue/board-status.ts';
import type { BoardIssues, BoardListQuery } from '../../src/store/tables/board-issues.ts';
import { runs } from '../property-runs.ts';
import { draft, onEngine, project, runStart, type StoreEngine } from './store.ts';

/** Reads for people: lists over several columns, usage, and search. */
export function readsConformance(engine: StoreEngine): void {
  const ids = (issues: readonly { readonly id: string }[]) => issues.map(({ id }) => id);
  const plain: BoardListQuery = { statuses: boardStatuses, match: {}, limit: 100, scan: 100, after: null };

  onEngine(engine, 'lists several columns of the board as one', ({ open }) => {
    it('returns the newest change first, only of the requested columns', async () => {
      const { boardIssues } = await open();
      const made: [string, BoardStatus, number][] = [
        ['a', 'todo', 5],
        ['b', 'done', 9],
        ['c', 'review', 7],
        ['d', 'todo', 7],
      ];
      for (const [id, status, at] of made) await boardIssues.create(project, draft(id, { status }), at);
      await boardIssues.create('beta', draft('z'), 99);
      expect(ids((await boardIssues.list(project, plain)).issues)).toEqual(['b', 'd', 'c', 'a']);
      expect(await walk(boardIssues, { ...plain, limit: 1 })).toEqual(['b', 'd', 'c', 'a']);
      expect(ids((await boardIssues.list(project, { ...plain, statuses: ['todo', 'todo'] })).issues)).toEqual([
        'd',
        'a',
      ]);
      expect(await boardIssues.list(project, { ...plain, statuses: [] })).toEqual({ issues: [], next: null });
    });

    it('has an issue once that moves to another column in the meantime', async () => {
      const { boardIssues } = await open();
      await boardIssues.create(project, draft('a', { status: 'review' }), 1);
      let at: BoardStatus = 'review';
      /** Moves it after that many other reads, so that the move comes between any two reads of the list. */
      const move = async (reads: number): Promise<void> => {
        for (let each = 0; each < reads; each += 1) await boardIssues.byIdentifier(project, 'none');
        const to = at === 'review' ? 'todo' : 'review';
        await boardIssues.setStatus({ project, issueId: 'a' }, { from: at, to }, 2);
        at = to;
      };
      const lists = [
        async () => (await boardIssues.list(project, plain)).issues,
        async () => (await boardIssues.list(project, { ...plain, match: { text: 'bat' } })).issues,
        () => boardIssues.tops(project, boardStatuses, 5),
      ];
      for (const list of lists) {
        for (let reads = 0; reads < 2 * boardStatuses.length; reads += 1) {
          const [issues] = await Promise.all([list(), move(reads)]);
          expect(ids(issues)).toEqual(['a']);
        }
      }
    });

    it('returns the newest changes of each column, one column after the other', async () => {
      const { boardIssues } = await open();
      for (const [id, status, at] of [
        ['a', 'todo', 5],
        ['b', 'done', 9],
        ['c', 'todo', 8],
        ['d', 'todo', 7],
      ] as const)
        await boardIssues.create(project, draft(id, { status }), at);
      expect(ids(await boardIssues.tops(project, ['done', 'review', 'todo'], 2))).toEqual(['b', 'c', 'd']);
      expect(await boardIssues.tops(project, [], 2)).toEqual([]);
    });

    it('returns the issues in the order in which they start, whatever the size of a page', async () => {
      const { boardIssues } = await open();
      const made: [string, BoardStatus, number | null, number][] = [
        ['late', 'todo', 1, 8],
        ['none', 'todo', null, 1],
        ['first', 'backlog', 1, 5],
        ['low', 'todo', 4, 2],
        ['same', 'todo', 1, 8],
      ];
      for (const [id, status, priority, at] of made)
        await boardIssues.create(project, draft(id, { status, priority }), at);
      const started = ['first', 'late', 'same', 'low', 'none'];
      const query = { ...plain, order: 'start' } as const;
      for (const limit of [1, 2, 100]) expect(await walk(boardIssues, { ...query, limit })).toEqual(started);
      expect(await walk(boardIssues, { ...query, limit: 1, match: { priority: 1 } })).toEqual(started.slice(0, 3));
      // A change does not move it, and a page continues where the one before ended.
      const { next } = await boardIssues.list(project, { ...query, limit: 2 });
      await boardIssues.update({ project, issueId: 'low' }, { title: 'Changed' }, 99);
      expect(ids((await boardIssues.list(project, { ...query, after: next })).issues)).toEqual(started.slice(2));
      await expect(boardIssues.list(project, { ...query, after: '5:x' })).rejects.toMatchObject({
        code: 'usage_error',
      });
    });

    it('finds a literal text in identifier, title and description, without wildcards', async () => {
      const { boardIssues } = await open();
      await boardIssues.create(project, draft('a', { title: '100% of _it_ \\ done' }), 1);
      await boardIssues.create(project, draft('b', { title: 'Nothing', description: 'The Ärger with quotes \'"' }), 2);
      await boardIssues.create(project, draft('c', { title: 'x', labels: ['ui', 'a"b%'], priority: 2 }), 3);
      const found = async (match: BoardListQuery['match']) =>
        ids((await boardIssues.list(project, { ...plain, match })).issues);
      expect(await found({ text: '0% OF _IT' })).toEqual(['a']);
      expect(await found({ text: '\\ d' })).toEqual(['a']);
      expect(await found({ text: 'nothing' })).toEqual(['b']);
      expect(await found({ text: 'Ärger WITH' })).toEqual(['b']);
      expect(await found({ text: '\'"' })).toEqual(['b']);
      expect(await found({ text: 'bat-3' })).toEqual(['c']);
      expect(await found({ text: '%' })).toEqual(['a']);
      expect(await found({ text: 'N_thing' })).toEqual([]);
      expect(await found({ label: 'ui' })).toEqual(['c']);
      expect(await found({ label: 'u' })).toEqual([]);
      expect(await found({ label: 'a"b%' })).toEqual(['c']);
      expect(await found({ priority: 2 })).toEqual(['c']);
      expect(await found({ priority: null })).toEqual(['b', 'a']);
      expect(await found({ text: 'x', label: 'ui', priority: 1 })).toEqual([]);
    });

    it('refuses a mark that no page gave', async () => {
      const { boardIssues } = await open();
      await expect(boardIssues.list(project, { ...plain, after: 'x' })).rejects.toMatchObject({ code: 'usage_error' });
    });

    it('returns each match once, in order, however few rows a page may read', async () => {
      const store = await open();
      const anIssue = fc.record({
        status: fc.constantFrom(...boardStatuses),
        at: fc.nat(5),
        fits: fc.boolean(),
      });
      const walked = fc.asyncProperty(
        fc.array(anIssue, { maxLength: 25 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        fc.uuid(),
        async (issues, limit, scan, isPlain, name) => {
          const { boardIssues } = store;
          for (const [index, { status, at, fits }] of issues.entries())
            await boardIssues.create(name, draft(`i${index}`, { status, title: fits ? 'this fits' : 'no' }), at);
          const match = isPlain ? {} : { text: 'FITS' };
          const whole = await boardIssues.list(name, { ...plain, match });
          const wanted = issues.flatMap(({ fits }, index) => (isPlain || fits ? [`i${index}`] : []));
          expect(ids(whole.issues).toSorted()).toEqual(wanted.toSorted());
          expect(whole.next).toBeNull();
          expect(await walk(boardIssues, { ...plain, match, limit, scan }, name)).toEqual(ids(whole.issues));
        },
      );
      await fc.assert(walked, { numRuns: runs(25) });
    });
  });

  onEngine(engine, 'reads the events of a run in both directions', ({ open }) => {
    const events = Array.from({ length: 30 }, (_, index) => ({
      at: index + 1,
      name: index % 10 === 0 ? 'turn_started' : 'notification',
      summary: index % 7 === 0 ? `The 100% Case ${index + 1}` : 'else',
    }));

    it('returns the last ones, and those before them, in order', async () => {
      const { runs, runEvents } = await open();
      await runs.start(runStart('r1'));
      await runEvents.append('r1', events);
      const seqs = async (query: Parameters<typeof runEvents.listLast>[1]) =>
        (await runEvents.listLast('r1', query)).map(({ seq }) => seq);
      expect(await seqs({ limit: 3 })).toEqual([28, 29, 30]);
      expect(await seqs({ limit: 3, beforeSeq: 28 })).toEqual([25, 26, 27]);
      expect(await seqs({ limit: 3, beforeSeq: 2 })).toEqual([1]);
      expect(await seqs({ limit: 3, beforeSeq: 1 })).toEqual([]);
    });

    it('returns those of a name, the first or the last', async () => {
      const { runs, runEvents } = await open();
      await runs.start(runStart('r1'));
      await runEvents.append('r1', events);
      const seqs = async (from: 'first' | 'last', limit: number) =>
        (await runEvents.named('r1', ['turn_started', 'other'], { from, limit })).map(({ seq }) => seq);
      expect(await seqs('first', 9)).toEqual([1, 11, 21]);
      expect(await seqs('first', 2)).toEqual([1, 11]);
      expect(await seqs('last', 2)).toEqual([11, 21]);
      expect(await runEvents.named('r1', [], { from: 'first', limit: 9 })).toEqual([]);
    });

    it('finds a text in steps, and returns where to continue', async () => {
      const { runs, runEvents } = await open();
      await runs.start(runStart('r1'));
      await runs.start(runStart('r2'));
      await runEvents.append('r1', events);
      await runEvents.append('r2', events);
      const found: number[] = [];
      let steps = 0;
      for (let afterSeq: number | null = 0; afterSeq !== null; steps++) {
        const page = await runEvents.search('r1', { text: '0% CASE', afterSeq, scan: 10 });
        found.push(...page.events.map(({ seq }) => seq));
        afterSeq = page.next;
      }
      expect(found).toEqual([1, 8, 15, 22, 29]);
      // The last step finds nothing more: that thirty is all cannot be known before.
      expect(steps).toBe(4);
      expect(await runEvents.search('r1', { text: '_', afterSeq: 0, scan: 100 })).toEqual({ events: [], next: null });
    });
  });

  onEngine(engine, 'sums usage', ({ open }) => {
    const amount = { inputTokens: 1, cachedInputTokens: 2, outputTokens: 3, reasoningTokens: 4, costMicroUsd: 5 };
    const of = (issueId: string, day: string, totalTokens: number, role = 'worker') => ({
      project,
      issueId,
      day,
      role,
      totalTokens,
      runs: 1,
      ...amount,
    });

    // @conforms api.20
    it('by role and by issue, for the requested days of one project', async () => {
      const { usage, runs } = await open();
      await runs.start(runStart('r1', { issueId: 'i1', identifier: 'OLD-1', startedAt: 1 }));
      await runs.start(runStart('r2', { issueId: 'i1', identifier: 'BAT-1', startedAt: 2 }));
      await runs.start(runStart('r3', { issueId: 'i2', identifier: 'X-2', project: 'beta' }));
      await usage.add(of('i1', '2026-11-14', 10));
      await usage.add(of('i1', '2026-11-15', 20, 'judge'));
      await usage.add(of('i2', '2026-11-15', 100));
      await usage.add(of('i3', '2026-11-16', 1_000));
      await usage.add({ ...of('i1', '2026-11-15', 10_000), project: 'beta' });
      const days = { fromDay: '2026-11-14', toDay: '2026-11-15' };
      expect(await usage.sumByRole(project, days)).toMatchObject([
        { role: 'judge', totalTokens: 20, runs: 1 },
        { role: 'worker', totalTokens: 110, runs: 2, costMicroUsd: 10 },
      ]);
      expect(await usage.sumByIssue(project, { ...days, limit: 9 })).toMatchObject([
        { issueId: 'i2', identifier: null, totalTokens: 100, runs: 1 },
        { issueId: 'i1', identifier: 'BAT-1', totalTokens: 30, runs: 2, inputTokens: 2, reasoningTokens: 8 },
      ]);
      expect(ids((await usage.sumByIssue(project, { ...days, limit: 1 })).map(({ issueId: id }) => ({ id })))).toEqual([
        'i2',
      ]);
      expect(await usage.sumByRole('gamma', days)).toEqual([]);
    });
  });

  async function walk(boardIssues: BoardIssues, query: BoardListQuery, name: string = project): Promise<string[]> {
    const shown: string[] = [];
    let after: string | null = query.after;
    for (let pages = 0; pages === 0 || after !== null; pages++) {
      if (pages > 1_000) throw new Error('the pages do not end');
      const page = await boardIssues.list(name, { ...query, after });
      expect(page.issues.length).toBeLessThanOrEqual(query.limit);
      shown.push(...ids(page.issues));
      after = page.next;
    }
    return shown;
  }
}
