import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { scratchFolder } from './engines.ts';
import { startProgram } from './program.ts';

let scratch: ReturnType<typeof scratchFolder>;
let file: string;
let store: Store;
beforeEach(async () => {
  scratch = scratchFolder();
  file = path.join(scratch.folder, 'baton.db');
  store = await openStore({ url: `sqlite:${file}`, clock: systemClock, mode: 'daemon' });
});
afterEach(async () => {
  await store.close();
  scratch.remove();
});

const logBytes = (): number => (existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0);

async function write(rows: number): Promise<void> {
  for (let index = 0; index < rows; index++) {
    await store.counters.add({ project: 'p', issueId: `${index}-${'x'.repeat(500)}` }, 'n', 1);
  }
}

/** Somebody with a snapshot of this moment, until he leaves. */
function reader(): { leave(): void } {
  const database = new DatabaseSync(file, { readOnly: true });
  database.exec('begin');
  database.prepare('select count(*) from counters').get();
  return { leave: () => database.close() };
}

describe('the maintenance of an SQLite file', () => {
  // @conforms 4.128
  it('moves the log into the file and truncates it', async () => {
    await write(200);
    const pages = logBytes() / 4_120;
    expect(pages).toBeGreaterThan(200);
    const found = await store.maintain();
    expect(found).toEqual({ walPages: found.walPages, checkpointed: found.walPages, busy: false });
    expect(found.walPages).toBeGreaterThan(200);
    expect(logBytes()).toBe(0);
  });

  // @conforms cadence.9
  it('keeps the log bounded under steady writes with a reader, and reports when the reader was in the way', async () => {
    const sizes: number[] = [];
    const busy: boolean[] = [];
    for (let round = 0; round < 8; round++) {
      const visitor = round % 2 === 0 ? reader() : null;
      await write(300);
      sizes.push(logBytes());
      const found = await store.maintain();
      busy.push(found.busy);
      if (visitor !== null) expect(found.checkpointed).toBeLessThan(found.walPages);
      else expect(logBytes()).toBe(0);
      visitor?.leave();
    }
    expect(busy).toEqual([true, false, true, false, true, false, true, false]);
    expect(logBytes()).toBe(0);
    // Two rounds with one reader in the first of them: never more than that, however long it goes on.
    expect(Math.max(...sizes)).toBeLessThanOrEqual((sizes[1] ?? 0) * 1.25);
    expect(await store.counters.list('p')).toHaveLength(300);
  });

  it('does not wait for a writer, and reports that it was busy', async () => {
    await write(20);
    const other = new DatabaseSync(file);
    other.exec('begin immediate');
    const began = performance.now();
    expect(await store.maintain()).toMatchObject({ busy: true });
    // A write would wait for 5 seconds.
    expect(performance.now() - began).toBeLessThan(4_500);
    other.exec('rollback');
    other.close();
    expect(await store.maintain()).toMatchObject({ busy: false });
    expect(logBytes()).toBe(0);
  });

  it('does not change the timeout of the next write', async () => {
    const clock = new SimulatedClock();
    await using visitor = await openStore({ url: `sqlite:${file}`, clock, mode: 'visitor' });
    const other = new DatabaseSync(file);
    for (const isBusy of [true, false]) {
      if (isBusy) other.exec('begin immediate');
      await visitor.maintain();
      if (!isBusy) other.exec('begin immediate');
      const writing = visitor.counters.add({ project: 'p', issueId: 'i' }, 'n', 1);
      await clock.advance(1_000);
      other.exec('rollback');
      await clock.advance(1_000);
      await writing;
    }
    other.close();
    expect(await visitor.counters.read({ project: 'p', issueId: 'i' })).toEqual({ n: 2 });
  });

  // @conforms cadence.10
  it('refuses no write, here or in other processes, while it repeats', async () => {
    const writers = [startProgram('write', `sqlite:${file}`, 'one'), startProgram('write', `sqlite:${file}`, 'two')];
    await Promise.all(writers.map((writer) => writer.said(2)));
    const own = { project: 'p', issueId: 'own' };
    for (let round = 0; round < 150; round++) {
      const visitor = round % 3 === 0 ? reader() : null;
      const [found] = await Promise.all([store.maintain(), store.counters.add(own, 'n', 1)]);
      expect(found.checkpointed).toBeLessThanOrEqual(found.walPages);
      // The others have their turn.
      await new Promise((resolve) => setTimeout(resolve, 1));
      visitor?.leave();
    }
    await Promise.all(writers.map((writer) => writer.stop()));
    const said = writers.flatMap(({ lines }) => lines.slice(1));
    expect(said.filter((line) => line.startsWith('{'))).toEqual([]);
    expect(said.length).toBeGreaterThan(50);
    expect(await store.counters.read({ project: 'p', issueId: 'all' })).toEqual({ written: said.length });
    expect(await store.counters.read(own)).toEqual({ n: 150 });
  });

  it('updates the statistics of a table that was queried and has grown', async () => {
    await write(300);
    await store.counters.list('p');
    await store.maintain();
    const database = new DatabaseSync(file, { readOnly: true });
    const tables = database.prepare("select name from sqlite_schema where name = 'sqlite_stat1'").all();
    database.close();
    expect(tables).toHaveLength(1);
    expect(await store.counters.list('p')).toHaveLength(300);
  });
});
