import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentEvent } from '../../src/agent/agent.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import { Journal } from '../../src/orchestrator/runs/journal.ts';
import { mergeFacts } from '../../src/orchestrator/runs/merge-facts.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { RunFacts } from '../../src/store/tables/runs.ts';
import { transcriptFiles } from '../../src/store/transcripts/transcript-files.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';

const event = (at: number, over: Partial<AgentEvent> = {}): AgentEvent => ({
  name: 'notification',
  at,
  pid: 1,
  summary: `event ${at}`,
  ...over,
});
const finished = { endedAt: 1, outcome: 'succeeded', errorCode: null, errorMessage: null } as const;

/** A journal over a real store; what it writes to the disk is kept in memory, and can be made to fail or to wait. */
async function given(runs: readonly string[] = ['r1']) {
  const clock = new SimulatedClock({ startAt: 1_000 });
  const real = await scratchStore(clock);
  const trouble = { store: false, disk: false, transactions: 0, appends: 0, wait: null as Promise<void> | null };
  const store: Store = {
    ...real,
    transaction: async (work) => {
      trouble.transactions += 1;
      if (trouble.store) throw new BatonError('store_busy', 'busy');
      return real.transaction(work);
    },
  };
  const lines = new Map<string, string[]>();
  const transcripts = {
    append: async (runId: string, added: readonly string[]): Promise<void> => {
      trouble.appends += 1;
      await trouble.wait;
      if (trouble.disk) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
      lines.set(runId, [...(lines.get(runId) ?? []), ...added]);
    },
    remove: async () => {},
    list: async () => [],
  };
  const logger = memoryLogger();
  const journal = new Journal({ store, transcripts, clock, logger, stopping: new AbortController().signal });
  for (const runId of runs) {
    await real.runs.start({
      runId,
      project: 'p',
      issueId: runId,
      identifier: 'X-1',
      generation: 1,
      role: 'worker',
      attempt: null,
      retryKind: null,
      backend: 'rehearsal',
      account: null,
      host: 'here',
      startedAt: 0,
    });
    journal.runStarts(runId, 1);
  }
  return {
    clock,
    store: real,
    trouble,
    journal,
    logger,
    said: (runId = 'r1') => (lines.get(runId) ?? []).map((text) => JSON.parse(text)),
    rows: (runId = 'r1') => real.runEvents.list(runId, { limit: 1_000_000 }),
    end: async (runId = 'r1') => {
      const notes = await journal.takeNotes(runId);
      try {
        await store.transaction(async (tables) => {
          await notes.write(tables);
          await tables.runs.finish(runId, 1, finished);
        });
        notes.written();
      } catch (error) {
        notes.failed(error);
        throw error;
      }
    },
  };
}

describe('an event', () => {
  // @conforms runs.33
  it('has a row and a line of the same number, and the line has all of it', async () => {
    const { journal, clock, rows, said } = await given();
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
    const payload = { method: 'item/completed', text: '漢\u0000' };
    journal.note('r1', {}, event(1, { usage, payload, quota: [] }));
    journal.note('r1', {}, event(2, { pid: null, name: 'turn_completed' }));
    await clock.advance(250);
    expect(await rows()).toEqual([
      { seq: 1, at: 1, name: 'notification', summary: 'event 1' },
      { seq: 2, at: 2, name: 'turn_completed', summary: 'event 2' },
    ]);
    expect(said()).toEqual([
      { seq: 1, at: 1, run: 'r1', name: 'notification', pid: 1, summary: 'event 1', usage, payload },
      { seq: 2, at: 2, run: 'r1', name: 'turn_completed', pid: null, summary: 'event 2' },
    ]);
  });

  it('of a run that has ended or did not start here is not kept and takes no memory', async () => {
    const { journal, clock, end, said } = await given();
    await end();
    journal.forget('r1');
    for (const runId of ['r1', 'never-was']) journal.note(runId, { turns: 1 }, event(1));
    await clock.advance(1_000);
    expect([said(), said('never-was')]).toEqual([[], []]);
    expect(journal.generationOf('r1')).toBe(0);
  });

  it('is written once, although the answer to the write was lost', async () => {
    const { journal, clock, store, rows } = await given();
    const commit = store.transaction;
    let losses = 2;
    const parts = {
      transcripts: { append: async () => {}, remove: async () => {}, list: async () => [] },
      clock,
      logger: memoryLogger(),
    };
    const lossy: Store = {
      ...store,
      transaction: async (work) => {
        const answer = await commit(work);
        if (losses-- > 0) throw new BatonError('store_unavailable', 'the connection broke');
        return answer;
      },
    };
    const other = new Journal({ ...parts, store: lossy, stopping: new AbortController().signal });
    other.runStarts('r1', 1);
    journal.forget('r1');
    other.note('r1', {}, event(1));
    await clock.advance(250);
    other.note('r1', {}, event(2));
    await clock.advance(2_000);
    expect((await rows()).map(({ seq, summary }) => [seq, summary])).toEqual([
      [1, 'event 1'],
      [2, 'event 2'],
    ]);
  });

  it('has no row beyond the limit, but still a line', { timeout: 60_000 }, async () => {
    const { journal, clock, store, rows, said } = await given();
    for (let at = 1; at <= 50_100; at += 1) {
      journal.note('r1', { turns: at }, event(at));
      if (at % 1_000 === 0) await clock.advance(250);
    }
    await clock.advance(250);
    const found = await rows();
    expect(found.map(({ seq }) => seq)).toEqual(Array.from({ length: 50_000 }, (_, index) => index + 1));
    expect(said()).toHaveLength(50_100);
    expect(said().at(-1)).toMatchObject({ seq: 50_100, summary: 'event 50100' });
    expect((await store.runs.read('r1'))?.turns).toBe(50_100);
  });
});

describe('while the store fails', () => {
  // @conforms runs.35
  it('a limited number of events waits, the rest is dropped and reported, and the transcript has all', async () => {
    const { journal, clock, trouble, rows, said, store } = await given();
    trouble.store = true;
    for (let at = 1; at <= 12_000; at += 1) {
      journal.note('r1', { totalTokens: at }, event(at));
      if (at % 100 === 0) await clock.advance(100);
    }
    trouble.store = false;
    await clock.advance(250);
    journal.note('r1', {}, event(12_001));
    await clock.advance(250);
    const found = await rows();
    const dropped = found.filter(({ name }) => name === 'events_dropped');
    expect(dropped).toEqual([{ seq: 12_000, at: 12_001, name: 'events_dropped', summary: expect.any(String) }]);
    expect(Number(dropped[0]?.summary.split(' ')[0]) + found.length - 1).toBe(12_001);
    expect(found.length).toBeLessThan(5_100);
    expect(found.at(-1)).toMatchObject({ seq: 12_001, summary: 'event 12001' });
    expect(said().map(({ seq }) => seq)).toEqual(Array.from({ length: 12_001 }, (_, index) => index + 1));
    expect((await store.runs.read('r1'))?.totalTokens).toBe(12_000);
  });

  it('the store is not asked more often, however many events come', async () => {
    const { journal, clock, trouble } = await given();
    trouble.store = true;
    for (let at = 1; at <= 20_000; at += 1) {
      journal.note('r1', {}, event(at));
      if (at % 1_000 === 0) await clock.advance(50);
    }
    // A second in all: four tries by the timer, and one before anybody knew.
    expect(trouble.transactions).toBeLessThanOrEqual(8);
  });
});

describe('while the disk fails', () => {
  it('rows and figures are written, a limited number of lines waits, and a line says how many are missing', async () => {
    const { journal, clock, trouble, rows, said, store, logger } = await given();
    trouble.disk = true;
    for (let at = 1; at <= 30_000; at += 1) {
      journal.note('r1', { totalTokens: at }, event(at));
      if (at % 500 === 0) await clock.advance(250);
    }
    await clock.advance(250);
    expect((await rows()).length).toBe(30_000);
    expect((await store.runs.read('r1'))?.totalTokens).toBe(30_000);
    expect(said()).toEqual([]);
    trouble.disk = false;
    await clock.advance(250);
    journal.note('r1', {}, event(30_001));
    await clock.advance(250);
    const lines = said();
    const at = lines.findIndex(({ name }) => name === 'events_dropped');
    expect(lines[at]).toMatchObject({ seq: 30_000, run: 'r1', payload: { dropped: 30_000 - at } });
    expect(at).toBeLessThanOrEqual(20_000);
    expect(lines.slice(at + 1)).toMatchObject([{ seq: 30_001 }]);
    // Told once that it does not work, and once that it does.
    expect(logger.events()).toEqual(['transcript_write_failed', 'transcript_recovered']);
  });

  // @conforms runs.36
  it('the end of a run is still written, and lost lines are logged', async () => {
    const { journal, trouble, end, rows, store, logger } = await given();
    trouble.disk = true;
    journal.note('r1', { turns: 3 }, event(1));
    await end();
    journal.forget('r1');
    expect(await store.runs.read('r1')).toMatchObject({ turns: 3, finish: { outcome: 'succeeded' } });
    expect(await rows()).toHaveLength(1);
    expect(logger.lines.at(-1)).toMatchObject({ level: 'error', fields: { run_id: 'r1', lines: 1 } });
  });

  it('lines of a run are written before its end when the disk is back', async () => {
    const { journal, trouble, end, said } = await given();
    Object.assign(trouble, { disk: true, store: true });
    journal.note('r1', {}, event(1));
    await expect(end()).rejects.toMatchObject({ code: 'store_busy' });
    Object.assign(trouble, { disk: false, store: false });
    await end();
    expect(said()).toMatchObject([{ seq: 1 }]);
  });
});

describe('while the disk hangs', () => {
  it('large events stay within the memory limits of a run and of all runs', async () => {
    const runs = Array.from({ length: 20 }, (_, index) => `r${index}`);
    const { journal, clock, trouble, said } = await given(runs);
    const hanging = Promise.withResolvers<void>();
    trouble.wait = hanging.promise;
    const payload = { text: 'x'.repeat(100_000) };
    for (let at = 1; at <= 120; at += 1) for (const runId of runs) journal.note(runId, {}, event(at, { payload }));
    hanging.resolve();
    await clock.advance(250);
    for (const runId of runs) journal.note(runId, {}, event(121));
    await clock.advance(250);
    const bytesOf = (runId: string): number => JSON.stringify(said(runId)).length * 2;
    const sizes = runs.map(bytesOf);
    expect(Math.max(...sizes)).toBeLessThan(9 * 1024 * 1024);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(66 * 1024 * 1024);
    for (const runId of runs) {
      const lines = said(runId);
      const dropped = lines.filter(({ name }) => name === 'events_dropped').map((line) => line.payload.dropped);
      expect(lines.length - dropped.length + dropped.reduce((sum, each) => sum + each, 0)).toBe(121);
      expect(lines.at(-1)).toMatchObject({ seq: 121 });
    }
  });

  it('an end loses nothing to a write in progress, and nothing follows it', async () => {
    const { journal, clock, trouble, end, rows, said } = await given();
    const hanging = Promise.withResolvers<void>();
    trouble.wait = hanging.promise;
    journal.note('r1', {}, event(1));
    const advancing = clock.advance(250);
    journal.note('r1', {}, event(2));
    const ending = end();
    journal.note('r1', {}, event(3));
    void journal.flush();
    hanging.resolve();
    await Promise.all([advancing, ending]);
    await clock.advance(500);
    expect((await rows()).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(said().map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });
});

function expectMerged(before: RunFacts, told: RunFacts, merged: RunFacts): void {
  expect(merged.lastMessage).toBe(told.lastMessage ?? before.lastMessage);
  expect(merged.threadId).toBe(told.threadId === undefined ? before.threadId : told.threadId);
  for (const name of ['inputTokens', 'totalTokens'] as const) {
    const [was, is] = [before[name], merged[name]];
    if (was !== undefined) expect(is).toBeGreaterThanOrEqual(was);
    if (is !== undefined) expect(Number.isSafeInteger(is) && is >= 0).toBe(true);
  }
}

describe('facts of a run that come together', () => {
  it('are merged to the latest values, and totals never fall', () => {
    const figure = fc.oneof(
      fc.integer({ min: 0, max: 1_000_000 }),
      fc.constantFrom(Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY, 1e300, Number.MAX_SAFE_INTEGER),
    );
    const facts = fc.record(
      {
        lastMessage: fc.string(),
        threadId: fc.option(fc.string()),
        turns: fc.nat(),
        inputTokens: figure,
        totalTokens: figure,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(facts), (told) => {
        let known: RunFacts = {};
        for (const each of told) {
          const merged = mergeFacts(known, each);
          expectMerged(known, each, merged);
          known = merged;
        }
      }),
    );
  });

  it('are not lost because of an invalid figure', async () => {
    const { journal, clock, store, rows } = await given();
    for (const totalTokens of [7, Number.NaN, -3, 9.5, Number.POSITIVE_INFINITY])
      journal.note('r1', { totalTokens, turns: 2 }, event(1));
    await clock.advance(250);
    expect(await store.runs.read('r1')).toMatchObject({ totalTokens: 9, turns: 2 });
    expect(await rows()).toHaveLength(5);
  });
});

// A process of its own, so that what it measures is its own.
// @conforms runs.34
it('a million events do not grow the memory, and leave a readable index and transcript', {
  timeout: 180_000,
}, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-flood-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = fileURLToPath(import.meta.resolve('../store/journal-flood.ts'));
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program, folder, '1000000']);
  const { early, late, peakRss, logged } = JSON.parse(stdout);
  const megabyte = 1024 * 1024;
  expect(late - early).toBeLessThan(20 * megabyte);
  expect(peakRss).toBeLessThan(700 * megabyte);
  expect(logged).toBe(0);

  await using store = await openStore({
    url: `sqlite:${path.join(folder, 'baton.db')}`,
    clock: systemClock,
    mode: 'visitor',
  });
  const transcripts = transcriptFiles(path.join(folder, 'transcripts'));
  expect(await store.runs.read('r1')).toMatchObject({ totalTokens: 2 * 999_999 });
  expect(await store.runEvents.list('r1', { afterSeq: 50_000, limit: 1 })).toEqual([]);
  const [row] = await store.runEvents.list('r1', { afterSeq: 19_999, limit: 1 });
  const near = await transcripts.seek('r1', row?.seq ?? 0);
  const [line] = (await transcripts.read('r1', { cursor: near, limit: 1 })).lines;
  expect(JSON.parse(line ?? '')).toMatchObject({ seq: row?.seq, summary: row?.summary });
  const end = await transcripts.seek('r1', 999_999);
  const { lines } = await transcripts.read('r1', { cursor: end, limit: 9 });
  expect(lines.map((text) => JSON.parse(text).seq)).toEqual([999_999, 1_000_000]);
});
