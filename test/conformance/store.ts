import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { BoardIssueDraft } from '../../src/store/tables/board-issues.ts';
import type { RunStart } from '../../src/store/tables/runs.ts';

/** What an engine provides for the suites. */
export interface StoreEngine {
  readonly name: 'sqlite' | 'postgres';
  /** Why it cannot run on this machine; null when it can. */
  readonly missing: string | null;
  /** Somewhere to open a store; `empty` has not even the tables. */
  place(kind?: 'migrated' | 'empty'): Promise<StorePlace>;
}

export interface StorePlace {
  readonly url: string;
  /** Bypasses the store, to read the database itself. */
  query(statement: string): Promise<Record<string, unknown>[]>;
  remove(): Promise<void>;
}

/** The parts for a suite: a new store at its own place, and more stores at the same place. Closed after each test. */
export interface StoreHarness {
  place(kind?: 'migrated' | 'empty'): Promise<StorePlace>;
  open(place?: StorePlace, mode?: 'daemon' | 'visitor'): Promise<Store>;
}

/** Runs a suite on an engine; where the engine cannot run, every test of it is skipped with the reason. */
export function onEngine(engine: StoreEngine, title: string, suite: (harness: StoreHarness) => void): void {
  const name = `${engine.name} ${title}${engine.missing === null ? '' : ` (skipped: ${engine.missing})`}`;
  // The full tier proves that both engines behave the same.
  const tags = engine.name === 'postgres' ? ['full'] : [];
  describe.skipIf(engine.missing !== null)(name, { tags }, () => {
    const stores: Store[] = [];
    const places: StorePlace[] = [];
    const place = async (kind?: 'migrated' | 'empty') => {
      const made = await engine.place(kind);
      places.push(made);
      return made;
    };
    afterEach(async () => {
      for (const store of stores.splice(0)) await store.close();
      for (const made of places.splice(0)) await made.remove();
    });
    suite({
      place,
      open: async (where, mode = 'visitor') => {
        const { url } = where ?? (await place());
        const store = await openStore({ url, clock: systemClock, mode });
        stores.push(store);
        return store;
      },
    });
  });
}

export const project = 'alpha';

/** An issue as a draft, everything in it optional. */
export function draft(id: string, over: Partial<BoardIssueDraft> = {}): BoardIssueDraft {
  return {
    id,
    prefix: 'BAT',
    title: `Title of ${id}`,
    description: null,
    status: 'todo',
    priority: null,
    labels: [],
    parentId: null,
    branch: null,
    url: null,
    blockerIds: [],
    clientKey: null,
    ...over,
  };
}

/** A run that starts, everything in it optional. */
export function runStart(runId: string, over: Partial<RunStart> = {}): RunStart {
  return {
    runId,
    project,
    issueId: 'i1',
    identifier: 'BAT-1',
    generation: 1,
    role: 'worker',
    attempt: null,
    retryKind: null,
    recovery: null,
    backend: 'rehearsal',
    agent: 'careful',
    agentReason: 'label',
    chosenAgent: null,
    account: null,
    host: 'here',
    startedAt: 1_000,
    ...over,
  };
}

/** The suite of the seam `Store`. Both engines run it unchanged. */
export function storeConformance(engine: StoreEngine): void {
  onEngine(engine, 'keeps transactions atomic', ({ open }) => {
    it('keeps nothing of a failed transaction, in any table', async () => {
      const store = await open();
      await expect(
        store.transaction(async (tables) => {
          await tables.boardIssues.create(project, draft('i1'), 1);
          await tables.counters.add({ project, issueId: 'i1' }, 'failures', 1);
          await tables.runs.start(runStart('r1'));
          await tables.runEvents.append('r1', [{ at: 1, name: 'n', summary: 's' }]);
          throw new Error('changed my mind');
        }),
      ).rejects.toThrow('changed my mind');
      expect(await store.boardIssues.readMany(project, ['i1'])).toEqual([]);
      expect(await store.counters.read({ project, issueId: 'i1' })).toEqual({});
      expect(await store.runs.read('r1')).toBeNull();
      expect((await store.boardIssues.create(project, draft('i2'), 1)).issue.identifier).toBe('BAT-1');
    });

    it('keeps everything of a successful one, and returns its result', async () => {
      const store = await open();
      const identifier = await store.transaction(async (tables) => {
        const { issue } = await tables.boardIssues.create(project, draft('i1'), 1);
        await tables.counters.add({ project, issueId: 'i1' }, 'failures', 1);
        return issue.identifier;
      });
      expect(identifier).toBe('BAT-1');
      expect(await store.counters.read({ project, issueId: 'i1' })).toEqual({ failures: 1 });
    });

    it('keeps calls from outside out of an open transaction', async () => {
      const store = await open();
      const begun = Promise.withResolvers<void>();
      const mayFail = Promise.withResolvers<void>();
      const failing = store.transaction(async (tables) => {
        await tables.counters.set({ project, issueId: 'inside' }, 'n', 1);
        begun.resolve();
        await mayFail.promise;
        throw new Error('rolled back');
      });
      await begun.promise;
      const outside = store.counters.set({ project, issueId: 'outside' }, 'n', 1);
      const seen = store.counters.read({ project, issueId: 'inside' });
      mayFail.resolve();
      await expect(failing).rejects.toThrow('rolled back');
      await outside;
      expect(await seen).toEqual({});
      expect(await store.counters.list(project)).toEqual([{ project, issueId: 'outside', name: 'n', value: 1 }]);
    });

    it('runs many concurrent transactions, one after the other if they conflict', async () => {
      const store = await open();
      const key = { project, issueId: 'i1' };
      await Promise.all(
        Array.from({ length: 40 }, () =>
          store.transaction(async (tables) => {
            await tables.counters.add(key, 'n', 1);
          }),
        ),
      );
      expect(await store.counters.read(key)).toEqual({ n: 40 });
    });

    it('continues after a transaction that the engine refused', async () => {
      const store = await open();
      const refused = store.transaction(async (tables) => {
        await tables.boardIssues.create(project, draft('i1'), 1);
        await tables.boardIssues.addBlocker({ project, issueId: 'i1' }, 'nobody');
      });
      await expect(refused).rejects.toMatchObject({ code: 'store_constraint' });
      expect((await store.boardIssues.create(project, draft('i1'), 1)).issue.identifier).toBe('BAT-1');
    });

    it('keeps nothing of one with a failed call, even if the error was caught', async () => {
      const store = await open();
      const swallowed = store.transaction(async (tables) => {
        await tables.boardIssues.create(project, draft('i1'), 1);
        await tables.boardIssues.addBlocker({ project, issueId: 'i1' }, 'nobody').catch(() => {});
        return 'all is well';
      });
      await expect(swallowed).rejects.toMatchObject({ code: 'store_constraint' });
      expect(await store.boardIssues.readMany(project, ['i1'])).toEqual([]);
      await store.transaction(({ boardIssues }) => boardIssues.create(project, draft('i1'), 1));
      expect(await store.boardIssues.readMany(project, ['i1'])).toHaveLength(1);
    });

    it('closes twice without an error, and only after calls in progress', async () => {
      const store = await open();
      const writing = store.transaction(async (tables) => {
        await tables.counters.set({ project, issueId: 'i1' }, 'n', 1);
        await tables.counters.set({ project, issueId: 'i1' }, 'm', 1);
      });
      await Promise.all([store.close(), store.close()]);
      await writing;
    });
  });

  onEngine(engine, 'is maintained', ({ open, place }) => {
    it('without losing or changing anything, even during other writes', async () => {
      const where = await place();
      const [store, other] = [await open(where, 'daemon'), await open(where)];
      const key = { project, issueId: 'i1' };
      const writing = Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? store : other)).map(
        async (writer, index) => {
          await writer.counters.add(key, 'n', 1);
          if (index % 10 === 0) await store.maintain();
        },
      );
      await Promise.all(writing);
      expect(await other.counters.read(key)).toEqual({ n: 60 });
      const found = await store.maintain();
      expect(found.checkpointed).toBeLessThanOrEqual(found.walPages);
      expect(await store.maintain()).toEqual({ walPages: 0, checkpointed: 0, busy: false });
    });

    it('after the transaction in progress, not in the middle of it', async () => {
      const store = await open();
      const key = { project, issueId: 'i1' };
      const mayEnd = Promise.withResolvers<void>();
      const writing = store.transaction(async ({ counters }) => {
        await counters.add(key, 'n', 1);
        await mayEnd.promise;
      });
      const maintained = store.maintain();
      mayEnd.resolve();
      await writing;
      expect(await maintained).toMatchObject({ busy: false });
      expect(await store.counters.read(key)).toEqual({ n: 1 });
    });
  });

  onEngine(engine, 'stores unusual values', ({ open }) => {
    it('returns every text unchanged, except the character NUL', async () => {
      const store = await open();
      const title = '\'; drop table runs; -- ü 漢字 🚲 \u2028 \\ " %_ $1';
      const { issue } = await store.boardIssues.create(
        project,
        draft('i1', { title, description: 'a\0b\r\n\tc', labels: ["it's", '🚲', ''] }),
        1,
      );
      expect(issue).toMatchObject({ title, description: 'a\uFFFDb\r\n\tc', labels: ["it's", '🚲', ''] });
      expect(await store.boardIssues.readMany(project, ['i1'])).toEqual([issue]);
    });

    it('stores integers exactly up to the largest safe one', async () => {
      const store = await open();
      await store.counters.set({ project, issueId: 'i1' }, 'n', Number.MAX_SAFE_INTEGER);
      await store.counters.set({ project, issueId: 'i1' }, 'm', -5);
      expect(await store.counters.read({ project, issueId: 'i1' })).toEqual({ m: -5, n: Number.MAX_SAFE_INTEGER });
    });
  });
}
