// @module-tag full
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { onEngine } from '../conformance/store.ts';
import { seededChance } from '../fake/seeded-chance.ts';
import { engines, scratchFolder } from './engines.ts';
import { startProgram } from './program.ts';

describe('kill -9 during writes', () => {
  // @conforms board.17
  it('loses no acknowledged row in fifty rounds, and leaves no partial transaction', {
    timeout: 120_000,
  }, async () => {
    // Two files, so that one process starts while another is being killed.
    const acknowledged = await Promise.all([rounds(25, 1), rounds(25, 2)]);
    expect(Math.min(...acknowledged)).toBeGreaterThan(100);
  });

  async function rounds(count: number, seed: number): Promise<number> {
    const { folder, remove } = scratchFolder();
    const file = path.join(folder, 'baton.db');
    const chance = seededChance(seed);
    const acknowledged: string[] = [];
    for (let round = 0; round < count; round++) {
      const writer = startProgram('write', `sqlite:${file}`, 'daemon');
      await writer.said(2 + Math.floor(chance.next() * 40));
      await writer.kill();
      acknowledged.push(...writer.lines.filter((line) => line !== 'open'));
      const there = look(file);
      expect(there.damage).toBe('ok');
      expect(acknowledged.filter((id) => !there.ids.has(id))).toEqual([]);
      expect(there.counted).toBe(there.ids.size);
    }
    remove();
    return acknowledged.length;
  }

  function look(file: string) {
    const database = new DatabaseSync(file);
    try {
      const damage = String(database.prepare('pragma integrity_check').get()?.integrity_check);
      const ids = new Set(
        database
          .prepare('select id from commands')
          .all()
          .map(({ id }) => String(id)),
      );
      return { damage, ids, counted: Number(database.prepare('select sum(value) as n from counters').get()?.n ?? 0) };
    } finally {
      database.close();
    }
  }
});

for (const engine of engines) {
  onEngine(engine, 'has several writers', ({ place, open }) => {
    it('and loses nothing that any of three processes wrote', async () => {
      const where = await place();
      await (await open(where)).close();
      const writers = ['a', 'b', 'c'].map((name) => startProgram('write', where.url, name));
      await Promise.all(writers.map((writer) => writer.said(60)));
      await Promise.all(writers.map((writer) => writer.stop()));
      const acknowledged = writers.flatMap((writer) => writer.lines.slice(1));
      const store = await openStore({ url: where.url, clock: systemClock, mode: 'daemon' });
      const found = new Set((await store.commands.list('p', 1_000_000)).map(({ id }) => id));
      expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
      expect(await store.counters.read({ project: 'p', issueId: 'all' })).toEqual({ written: found.size });
      await store.close();
    });
  });
}
