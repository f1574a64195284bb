import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { openSqlite } from '../../src/store/sqlite/open-sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'baton-store-'));
  file = path.join(folder, 'baton.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (mode: 'daemon' | 'visitor' = 'daemon', where = file): Promise<Store> =>
  openStore({ url: `sqlite:${where}`, clock: systemClock, mode });

async function fill(rows: number): Promise<void> {
  const store = await open();
  await store.transaction(async ({ counters }) => {
    for (let index = 0; index < rows; index++) {
      await counters.set({ project: 'p', issueId: `issue-${index}-${'x'.repeat(100)}` }, 'n', index);
    }
  });
  await store.close();
}

describe('an SQLite store', () => {
  it('is readable by its owner only, folder and files', async () => {
    const where = path.join(folder, 'a', 'b', 'baton.db');
    const store = await open('daemon', where);
    await store.projects.ensure('p', 1);
    expect(statSync(path.dirname(where)).mode & 0o777).toBe(0o700);
    for (const end of ['', '-wal', '-shm', '.lock', '.pid'])
      expect(statSync(where + end).mode & 0o777, end).toBe(0o600);
    await store.close();
    expect(existsSync(`${where}-wal`)).toBe(false);
    expect(existsSync(`${where}.pid`)).toBe(false);
  });

  it('writes every commit through to the disk with a write-ahead log, and checks references', async () => {
    const store = await open();
    await expect(
      store.boardComments.add({ project: 'p', issueId: 'no' }, { author: { kind: 'orchestrator' }, body: '', at: 1 }),
    ).rejects.toMatchObject({ code: 'store_constraint' });
    await store.close();
    const engine = await openSqlite(file, 'visitor', systemClock);
    const pragma = async (name: string) =>
      Object.values((await sql<object>`pragma ${sql.raw(name)}`.execute(engine.db)).rows[0] ?? {})[0];
    expect(await pragma('synchronous')).toBe(2);
    expect(await pragma('journal_mode')).toBe('wal');
    expect(await pragma('foreign_keys')).toBe(1);
    expect(await pragma('busy_timeout')).toBe(20);
    await engine.close();
  });

  it.each([
    ['mysql://host/db', 'mysql:'],
    ['sqlite:relative.db', 'sqlite:'],
    ['/just/a/path', 'no scheme'],
    ['', 'no scheme'],
  ])('is refused when the address is %s', async (url, scheme) => {
    const refused = openStore({ url, clock: systemClock, mode: 'visitor' });
    await expect(refused).rejects.toMatchObject({
      code: 'store_url_unsupported',
      message: expect.stringContaining(scheme),
    });
  });
});

describe('a file that Baton must not write to', () => {
  const cases: readonly [string, () => void | Promise<void>, string][] = [
    ['a text file', () => writeFileSync(file, 'Dear diary, '.repeat(100)), 'store_corrupt'],
    ['a short text file', () => writeFileSync(file, 'hello'), 'store_corrupt'],
    ['a damaged header', () => fill(5).then(() => overwrite(0, 'XXXXXXXX')), 'store_corrupt'],
    ['a damaged page', () => fill(500).then(() => overwrite(4096 * 30, 'garbage!'.repeat(512))), 'store_corrupt'],
    ['a file cut in the middle', () => fill(500).then(() => truncateSync(file, 4096 * 12)), 'store_corrupt'],
    ['the database of another program', () => foreign(), 'store_foreign'],
  ];

  it.each(cases)('%s', async (_, make, code) => {
    await make();
    const before = readFileSync(file);
    await expect(open()).rejects.toMatchObject({ code, message: expect.stringContaining(file) });
    await expect(open()).rejects.toMatchObject({ code });
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(existsSync(`${file}.pid`)).toBe(false);
  });

  it('a damaged page is found by a visitor when it reads it', async () => {
    await fill(500);
    overwrite(statSync(file).size - 4096 * 20, 'garbage!'.repeat(512 * 10));
    const store = await open('visitor');
    await expect(store.counters.list('p')).rejects.toMatchObject({ code: 'store_corrupt', retryable: false });
    await store.close();
  });

  it('but an empty file becomes a new store', async () => {
    writeFileSync(file, '');
    const store = await open();
    expect(await store.projects.list()).toEqual([]);
    await store.close();
  });

  function overwrite(at: number, text: string): void {
    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.from(text), 0, text.length, at);
    closeSync(handle);
  }

  function foreign(): void {
    const database = new DatabaseSync(file);
    database.exec("create table photos (name text); insert into photos values ('cat')");
    database.close();
  }
});

describe('a file that another process has locked', () => {
  it('is waited for without blocking the process, and then given up', async () => {
    await fill(1);
    const clock = new SimulatedClock();
    const store = await openStore({ url: `sqlite:${file}`, clock, mode: 'visitor' });
    const other = new DatabaseSync(file);
    other.exec('begin immediate');
    const refused = expect(store.projects.ensure('p', 1)).rejects.toMatchObject({
      code: 'store_busy',
      retryable: true,
    });
    await clock.advance(10_000);
    await refused;
    const waiting = store.transaction(({ projects }) => projects.ensure('q', 1));
    await clock.advance(100);
    other.exec('rollback');
    await clock.advance(1_000);
    expect(await waiting).toMatchObject({ name: 'q' });
    expect(await store.projects.list()).toHaveLength(1);
    other.close();
    await store.close();
  });
});

describe('a path that cannot be written', () => {
  it('a file where a folder should be', async () => {
    writeFileSync(path.join(folder, 'state'), '');
    await expect(open('daemon', path.join(folder, 'state', 'baton.db'))).rejects.toMatchObject({
      code: 'store_not_writable',
    });
  });

  it('a folder where the file should be', async () => {
    mkdirSync(file);
    await expect(open()).rejects.toMatchObject({ code: 'store_not_writable' });
  });

  it.skipIf(process.getuid?.() === 0)('a file without write permission', async () => {
    await fill(1);
    chmodSync(file, 0o400);
    await expect(open('visitor')).rejects.toMatchObject({ code: 'store_not_writable' });
  });

  it.skipIf(!canMount())('a file that even root may not change, in a writable folder', async ({ skip }) => {
    await fill(1);
    try {
      asRoot('chattr', ['+i', file]);
    } catch {
      skip('this file system has no such thing');
    }
    try {
      for (const mode of ['daemon', 'visitor'] as const) {
        await expect(open(mode)).rejects.toMatchObject({ code: 'store_not_writable' });
      }
    } finally {
      asRoot('chattr', ['-i', file]);
    }
  });

  it.skipIf(!canMount())('a read-only mount', async () => {
    await fill(1);
    asRoot('mount', ['--bind', folder, folder]);
    try {
      asRoot('mount', ['-o', 'remount,bind,ro', folder]);
      for (const mode of ['daemon', 'visitor'] as const) {
        await expect(open(mode)).rejects.toMatchObject({ code: 'store_not_writable', retryable: false });
      }
    } finally {
      asRoot('umount', [folder]);
    }
    const store = await open();
    expect(await store.counters.list('p')).toHaveLength(1);
    await store.close();
  });
});

describe('a full disk', () => {
  it.skipIf(!canMount())(
    'is reported as such, loses nothing that was acknowledged, and recovers with free space',
    async () => {
      const disk = path.join(folder, 'disk');
      mkdirSync(disk);
      asRoot('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk]);
      try {
        const where = path.join(disk, 'baton.db');
        const store = await open('daemon', where);
        writeFileSync(path.join(disk, 'ballast'), Buffer.alloc(300_000));
        const { error, kept } = await writeUntilItFails(store);
        expect(error).toMatchObject({ code: 'store_full', retryable: true });
        expect(await store.counters.list('p')).toHaveLength(kept);
        await expect(store.counters.set({ project: 'p', issueId: 'z'.repeat(9_000) }, 'n', 1)).rejects.toMatchObject({
          code: 'store_full',
        });
        rmSync(path.join(disk, 'ballast'));
        await store.counters.set({ project: 'p', issueId: 'after' }, 'n', 1);
        await store.close();
        const again = await open('daemon', where);
        expect(await again.counters.list('p')).toHaveLength(kept + 1);
        await again.close();
        const database = new DatabaseSync(where);
        expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
        database.close();
      } finally {
        asRoot('umount', [disk]);
      }
    },
  );

  it.skipIf(!canMount())('is reported as such when the store is new', async () => {
    const disk = path.join(folder, 'disk');
    mkdirSync(disk);
    asRoot('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
    try {
      await expect(open('daemon', path.join(disk, 'baton.db'))).rejects.toMatchObject({ code: 'store_full' });
    } finally {
      asRoot('umount', [disk]);
    }
  });

  async function writeUntilItFails(store: Store): Promise<{ error: unknown; kept: number }> {
    for (let kept = 0; ; kept++) {
      try {
        await store.counters.set({ project: 'p', issueId: `${kept}-${'x'.repeat(2_000)}` }, 'n', 1);
      } catch (error) {
        return { error, kept };
      }
    }
  }
});

function asRoot(program: string, args: readonly string[]): void {
  execFileSync(program, args, { stdio: 'ignore' });
}

/** Mounting needs to be allowed; where it is not, the machine cannot have a small disk. */
function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const at = mkdtempSync(path.join(os.tmpdir(), 'baton-mount-'));
  try {
    asRoot('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', at]);
    asRoot('umount', [at]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(at, { recursive: true, force: true });
  }
}
