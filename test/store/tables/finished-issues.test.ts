import { expect, it } from 'vitest';
import type { FinishedIssue } from '../../../src/store/tables/finished-issues.ts';
import { onEngine, project } from '../../conformance/store.ts';
import { engines } from '../engines.ts';

const entry = (issueId: string, at: number, over: Partial<FinishedIssue> = {}): FinishedIssue => ({
  project,
  issueId,
  identifier: `T-${issueId}`,
  title: `Title of ${issueId}`,
  url: null,
  state: 'Done',
  at,
  ...over,
});
const all = { from: 0, limit: 99 };

for (const engine of engines) {
  onEngine(engine, 'stores finished issues', ({ open, place }) => {
    it('with the facts of that time, whatever they contain, for each project', async () => {
      const { finishedIssues } = await open();
      const odd = entry('i', 5, { title: 'a "b" 漢字 🚲', url: 'https://example.org/i', state: '完' });
      const bare = entry('i', 6, { project: 'beta', title: null });
      expect(await finishedIssues.note(odd, 0)).toEqual(odd);
      expect(await finishedIssues.note(bare, 0)).toEqual(bare);
      expect(await finishedIssues.latest(project, all)).toEqual([odd]);
      expect(await finishedIssues.latest('beta', all)).toEqual([bare]);
      expect(await finishedIssues.latest('gamma', all)).toEqual([]);
    });

    it('cuts a long title at a whole character', async () => {
      const { finishedIssues } = await open();
      const { title } = await finishedIssues.note(entry('i', 5, { title: '漢'.repeat(100_000) }), 0);
      expect(title).toBe('漢'.repeat(341));
    });

    it('lists the latest ones, the latest last', async () => {
      const { finishedIssues } = await open();
      for (const [index, at] of [30, 10, 20, 40, 20].entries()) await finishedIssues.note(entry(`i${index}`, at), 0);
      const ids = async (query: { from: number; limit: number }) =>
        (await finishedIssues.latest(project, query)).map(({ issueId }) => issueId);
      expect(await ids(all)).toEqual(['i1', 'i2', 'i4', 'i0', 'i3']);
      expect(await ids({ from: 20, limit: 99 })).toEqual(['i2', 'i4', 'i0', 'i3']);
      expect(await ids({ from: 0, limit: 2 })).toEqual(['i0', 'i3']);
    });

    it('keeps the first time of one finish, and takes the time of a later one', async () => {
      const { finishedIssues } = await open();
      const first = await finishedIssues.note(entry('i', 100), 50);
      // Another daemon, which last saw it open before that.
      for (const openAt of [40, 100])
        expect(await finishedIssues.note(entry('i', 130, { state: 'Closed' }), openAt)).toEqual(first);
      // It was open again since.
      const again = entry('i', 300, { state: 'Closed', title: 'another' });
      expect(await finishedIssues.note(again, 250)).toEqual(again);
      // What comes late does not bring back what is over.
      expect(await finishedIssues.note(entry('i', 130), 40)).toEqual(again);
      expect(await finishedIssues.latest(project, all)).toEqual([again]);
    });

    // @conforms api.37
    it('records one time for a finish that many see at once', async () => {
      const where = await place();
      const stores = await Promise.all([open(where), open(where), open(where)]);
      for (let round = 0; round < 10; round += 1) {
        const at = 1_000 * (round + 1);
        const seen = await Promise.all(
          stores.map(({ finishedIssues }, nth) => finishedIssues.note(entry('i', at + nth), at - 10 - nth)),
        );
        expect(new Set(seen.map((each) => each.at)).size).toBe(1);
        expect(seen[0]?.at).toBeGreaterThanOrEqual(at);
      }
      expect(await stores[0]?.finishedIssues.latest(project, all)).toHaveLength(1);
    });

    it('removes issues that finished before a time, at most the given number at once', async () => {
      const { finishedIssues } = await open();
      for (const at of [1, 2, 3, 4, 5]) await finishedIssues.note(entry(`i${at}`, at), 0);
      await finishedIssues.note(entry('i1', 1, { project: 'beta' }), 0);
      expect(await finishedIssues.prune(5, 3)).toBe(3);
      expect(await finishedIssues.prune(5, 3)).toBe(2);
      expect(await finishedIssues.prune(5, 3)).toBe(0);
      expect((await finishedIssues.latest(project, all)).map(({ issueId }) => issueId)).toEqual(['i5']);
      expect(await finishedIssues.latest('beta', all)).toEqual([]);
    });
  });
}
