import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { backupStore } from '../../src/store/backup/backup-store.ts';
import { restoreStore } from '../../src/store/backup/restore-store.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { project, runStart } from '../conformance/store.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { scratchFolder } from './engines.ts';
import { startProgram } from './program.ts';
import { makeUnreleased } from './unreleased-store.ts';

let scratch: ReturnType<typeof scratchFolder>;
let file: string;
let backup: string;
const url = () => `sqlite:${file}`;
beforeEach(() => {
  scratch = scratchFolder();
  file = path.join(scratch.folder, 'state', 'baton.db');
  backup = path.join(scratch.folder, 'backup.db');
});
afterEach(() => scratch.remove());

const clock = new SimulatedClock({ startAt: Date.UTC(2026, 10, 15, 13) });
const open = (mode: 'daemon' | 'visitor' = 'visitor') => openStore({ url: url(), clock: systemClock, mode });

async function fill(...names: string[]): Promise<void> {
  await using store = await open();
  for (const name of names) await store.projects.ensure(name, 1);
}

async function names(): Promise<string[]> {
  await using store: Store = await open();
  return (await store.projects.list()).map(({ name }) => name);
}

describe('a backup', () => {
  it('has one consistent state of a store that is being written to', async () => {
    const writer = startProgram('write', url(), 'daemon');
    await writer.said(50);
    const before = writer.lines.slice(1);
    backupStore(url(), backup);
    await writer.said(writer.lines.length + 20);
    await writer.stop();
    const database = new DatabaseSync(backup, { readOnly: true });
    const ids = new Set(
      database
        .prepare('select id from commands')
        .all()
        .map(({ id }) => id),
    );
    const counted = database.prepare('select value from counters').get()?.value;
    database.close();
    expect(before.filter((id) => !ids.has(id))).toEqual([]);
    expect(counted).toBe(ids.size);
    expect(ids.size).toBeLessThan(writer.lines.length - 1);
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(readdirSync(scratch.folder).toSorted()).toEqual(['backup.db', 'state']);
  });

  it('never overwrites a file', async () => {
    await fill('a');
    writeFileSync(backup, 'precious');
    expect(() => backupStore(url(), backup)).toThrow(expect.objectContaining({ code: 'store_backup_failed' }));
    expect(readFileSync(backup, 'utf8')).toBe('precious');
  });

  it('of a missing store fails, and creates nothing', () => {
    expect(() => backupStore(url(), backup)).toThrow(expect.objectContaining({ code: 'store_backup_failed' }));
    expect(existsSync(file) || existsSync(backup)).toBe(false);
  });

  it('of a damaged store fails, and leaves no partial file', async () => {
    await fill('a');
    writeFileSync(file, 'Dear diary, '.repeat(100));
    expect(() => backupStore(url(), backup)).toThrow(expect.objectContaining({ code: 'store_corrupt' }));
    expect(readdirSync(scratch.folder)).toEqual(['state']);
  });

  it('fails clearly when it cannot be written', async () => {
    await fill('a');
    const nowhere = path.join(scratch.folder, 'no', 'backup.db');
    expect(() => backupStore(url(), nowhere)).toThrow(expect.objectContaining({ code: 'store_not_writable' }));
  });

  it('of PostgreSQL is left to pg_dump, and so is the restore', () => {
    const there = 'postgres://me:secret@db.example.org/baton';
    const refused = expect.objectContaining({ code: 'store_backup_failed', nextStep: expect.stringContaining('pg_') });
    expect(() => backupStore(there, backup)).toThrow(refused);
    expect(() => restoreStore({ file: backup, url: there, clock, replace: true })).toThrow(refused);
  });
});

describe('a restore', () => {
  it('replaces the store with the backup and keeps the old store', async () => {
    await fill('a');
    backupStore(url(), backup);
    await fill('b');
    const { kept } = restoreStore({ file: backup, url: url(), clock, replace: true });
    expect(await names()).toEqual(['a']);
    expect(kept).toBe(`${file}.before-restore-20261115T130000000Z`);
    expect(readdirSync(path.dirname(file)).toSorted()).toEqual([
      'baton.db',
      'baton.db.before-restore-20261115T130000000Z',
      'baton.db.lock',
    ]);
    const old = new DatabaseSync(kept ?? '', { readOnly: true });
    expect(old.prepare('select name from projects order by name').all()).toMatchObject([{ name: 'a' }, { name: 'b' }]);
    old.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await (await open('daemon')).close();
  });

  it('creates a store where there is none, or an empty one', async () => {
    await fill('a');
    backupStore(url(), backup);
    file = path.join(scratch.folder, 'elsewhere', 'baton.db');
    expect(restoreStore({ file: backup, url: url(), clock, replace: false })).toEqual({ kept: null });
    expect(await names()).toEqual(['a']);
    file = path.join(scratch.folder, 'third', 'baton.db');
    await fill();
    restoreStore({ file: backup, url: url(), clock, replace: false });
    expect(await names()).toEqual(['a']);
  });

  it('keeps the order of the runs and continues their numbers', async () => {
    {
      await using store = await open();
      await store.runs.start(runStart('z', { startedAt: 9 }));
      await store.runs.start(runStart('a', { startedAt: 5 }));
    }
    backupStore(url(), backup);
    restoreStore({ file: backup, url: url(), clock, replace: true });
    await using store = await open();
    await store.runs.start(runStart('m', { startedAt: 1 }));
    expect((await store.runs.list(project, { limit: 9 })).map(({ runId }) => runId)).toEqual(['m', 'a', 'z']);
  });

  it('fences every holder of a claim, then and since: generations grow and every lease ends', async () => {
    const wish = { owner: 'me', host: 'here', at: 1, leaseMs: 1_000, slotState: 'Todo' };
    const [both, late] = [
      { project: 'p', issueId: 'both' },
      { project: 'p', issueId: 'late' },
    ];
    {
      await using store = await open();
      await store.claims.take(both, wish);
      backupStore(url(), backup);
      await store.claims.take(both, { ...wish, reclaim: true });
      await store.claims.take(late, wish);
    }
    restoreStore({ file: backup, url: url(), clock, replace: true });
    await using store = await open();
    expect(await store.claims.held('p', 2)).toMatchObject([
      { ...both, owner: 'me', generation: 3, isExpired: true, host: 'here', slotState: 'Todo' },
    ]);
    for (const key of [both, late]) {
      for (const generation of [1, 2])
        expect(await store.transaction(({ claims }) => claims.verify(key, { owner: 'me', generation }))).toBe(false);
    }
    expect(await store.claims.take(both, { ...wish, at: 2 })).toMatchObject({ generation: 4 });
    expect(await store.claims.take(late, { ...wish, at: 2 })).toMatchObject({ generation: 3 });
  });

  it('refuses a backup of an unreleased build and leaves it unchanged', async () => {
    await makeUnreleased(backup);
    const before = readFileSync(backup);
    expect(() => restoreStore({ file: backup, url: url(), clock, replace: false })).toThrow(
      expect.objectContaining({ code: 'store_unreleased' }),
    );
    expect(readFileSync(backup)).toEqual(before);
    expect(existsSync(file)).toBe(false);
  });

  it('keeps a store with data unless it may replace it', async () => {
    await fill('a');
    backupStore(url(), backup);
    await fill('b');
    expect(() => restoreStore({ file: backup, url: url(), clock, replace: false })).toThrow(
      expect.objectContaining({ code: 'store_not_empty' }),
    );
    expect(await names()).toEqual(['a', 'b']);
  });

  it('is refused while a daemon runs', async () => {
    await fill('a');
    backupStore(url(), backup);
    const daemon = await open('daemon');
    expect(() => restoreStore({ file: backup, url: url(), clock, replace: true })).toThrow(
      expect.objectContaining({ code: 'store_in_use' }),
    );
    expect(await daemon.projects.list()).toHaveLength(1);
    await daemon.close();
  });

  it('does not apply the log of a killed store to the restored one', async () => {
    await fill('a');
    backupStore(url(), backup);
    const writer = startProgram('write', url(), 'daemon');
    await writer.said(50);
    await writer.kill();
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    // So damaged that its log cannot be folded into it, and the log is whole.
    const bytes = readFileSync(file);
    bytes.fill(0x58, 0, 4096);
    writeFileSync(file, bytes);
    const { kept } = restoreStore({ file: backup, url: url(), clock, replace: true });
    expect(existsSync(`${kept}-wal`)).toBe(true);
    expect(existsSync(`${file}-wal`)).toBe(false);
    expect(await names()).toEqual(['a']);
    await using store = await open('daemon');
    expect(await store.commands.list('p', 9)).toEqual([]);
  });

  it('fixes a damaged store, and keeps the damaged one with its log', async () => {
    await fill('a');
    backupStore(url(), backup);
    writeFileSync(file, 'Dear diary, '.repeat(1_000));
    writeFileSync(`${file}-wal`, 'the log of then');
    await expect(open()).rejects.toMatchObject({ code: 'store_corrupt' });
    expect(() => restoreStore({ file: backup, url: url(), clock, replace: false })).toThrow(
      expect.objectContaining({ code: 'store_not_empty' }),
    );
    const { kept } = restoreStore({ file: backup, url: url(), clock, replace: true });
    expect(await names()).toEqual(['a']);
    expect(readFileSync(kept ?? '', 'utf8')).toContain('Dear diary');
  });

  it.each([
    ['text', () => writeFileSync(backup, 'Dear diary, '.repeat(1_000)), 'store_corrupt'],
    ['nothing', () => {}, 'store_backup_failed'],
    ['an empty file', () => writeFileSync(backup, ''), 'store_backup_failed'],
    ['a newer store', () => newer(), 'store_newer'],
    ['the database of another program', () => foreign(), 'store_foreign'],
    ['a damaged backup', () => damaged(), 'store_corrupt'],
  ] as const)('refuses a file that is not a backup: %s', async (_, make, code) => {
    await fill('a');
    await make();
    expect(() => restoreStore({ file: backup, url: url(), clock, replace: true })).toThrow(
      expect.objectContaining({ code }),
    );
    expect(await names()).toEqual(['a']);
    expect(readdirSync(path.dirname(file)).filter((name) => /restor/.test(name))).toEqual([]);
  });

  function newer(): void {
    backupStore(url(), backup);
    const database = new DatabaseSync(backup);
    database.exec("insert into baton_migrations values (999, 'of the future', 1)");
    database.close();
  }

  function foreign(): void {
    const database = new DatabaseSync(backup);
    database.exec('create table photos (name text)');
    database.close();
  }

  function damaged(): void {
    backupStore(url(), backup);
    const bytes = readFileSync(backup);
    bytes.fill(0x58, 4096 * 20, 4096 * 24);
    writeFileSync(backup, bytes);
  }
});
