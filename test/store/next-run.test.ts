import { expect, it } from 'vitest';
import type { RetryKind } from '../../src/core/workflow.ts';
import type { Retry } from '../../src/store/tables/retries.ts';
import { onEngine, project, runStart } from '../conformance/store.ts';
import { engines } from './engines.ts';

const key = { project, issueId: 'i1' };
const retry: Retry = {
  ...key,
  identifier: 'BAT-1',
  url: null,
  role: 'judge',
  kind: 'failure',
  attempt: 1,
  failures: 1,
  staleRuns: 0,
  dueAt: 5,
  error: null,
  recovery: 'compact',
  agent: null,
};

for (const engine of engines) {
  onEngine(engine, 'stores for the next run of an issue', ({ open, place }) => {
    it('the recovery step, and drops it with the next retry', async () => {
      const { retries } = await open();
      await retries.put(retry);
      expect(await retries.read(key)).toEqual(retry);
      const plain = { ...retry, recovery: null };
      await retries.put(plain);
      expect(await retries.list(project)).toEqual([plain]);
    });

    it('every kind of retry, of a retry and of a run', async () => {
      const { retries, runs } = await open();
      const kinds: RetryKind[] = ['continuation', 'failure', 'interrupted', 'quota', 'answered', 'handed_back'];
      for (const kind of kinds) {
        await retries.put({ ...retry, kind });
        expect((await retries.read(key))?.kind).toBe(kind);
        await runs.start(runStart(kind, { retryKind: kind }));
        expect((await runs.read(kind))?.retryKind).toBe(kind);
      }
    });

    it('no unknown recovery step: such a run is an ordinary one', async () => {
      const where = await place();
      const { retries } = await open(where);
      await retries.put(retry);
      await where.query("update retries set recovery = 'of tomorrow'");
      expect(await retries.read(key)).toMatchObject({ recovery: null, attempt: 1 });
    });

    it('the account of a run and the last message of its agent, cut to 4 KB', async () => {
      const { runs } = await open();
      await runs.start(runStart('r1', { account: 'work' }));
      await runs.start(runStart('r2', { account: null }));
      expect(await runs.read('r1')).toMatchObject({ account: 'work', lastMessage: null });
      expect(await runs.read('r2')).toMatchObject({ account: null });
      await runs.record('r1', 1, { lastMessage: 'first' });
      await runs.record('r1', 1, { lastMessage: 'All tests pass. \u0000' });
      await runs.record('r1', 1, { turns: 2 });
      expect(await runs.read('r1')).toMatchObject({ lastMessage: 'All tests pass. \uFFFD', turns: 2 });
      for (const text of ['x'.repeat(5_000_000), '漢'.repeat(2_000), '🚲'.repeat(1_025)]) {
        await runs.record('r1', 1, { lastMessage: text });
        const kept = (await runs.read('r1'))?.lastMessage ?? '';
        expect(text.startsWith(kept)).toBe(true);
        expect(Buffer.byteLength(kept)).toBeGreaterThan(4_090);
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(4_096);
      }
      const exact = 'y'.repeat(4_096);
      await runs.record('r1', 1, { lastMessage: exact });
      expect((await runs.read('r1'))?.lastMessage).toBe(exact);
    });
  });
}
