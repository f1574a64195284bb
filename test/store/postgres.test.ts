import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { onEngine, project, type StorePlace } from '../conformance/store.ts';
import { type MemoryLogger, memoryLogger } from '../fake/memory-logger.ts';
import { engines } from './engines.ts';

const open = (url: string, logger: MemoryLogger = memoryLogger()) =>
  openStore({ url, clock: systemClock, mode: 'visitor', logger });

describe('a PostgreSQL store that is not available', () => {
  it('because nothing listens is retryable, and its password is not shown', async () => {
    await expect(open('postgres://me:hunter2@127.0.0.1:1/baton')).rejects.toMatchObject({
      code: 'store_unavailable',
      retryable: true,
      message: expect.not.stringContaining('hunter2'),
    });
  });

  it('because the host is unknown is retryable', async () => {
    await expect(open('postgres://me@no-such-host.invalid/baton')).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

for (const engine of engines.filter(({ name }) => name === 'postgres')) {
  onEngine(engine, 'refuses', ({ place }) => {
    const changed = async (change: (url: URL) => void): Promise<string> => {
      const url = new URL((await place()).url);
      change(url);
      return url.href;
    };

    it('a wrong password', async () => {
      const url = await changed((each) => {
        each.password = 'wrong';
      });
      await expect(open(url)).rejects.toMatchObject({ code: 'store_access_denied', retryable: false });
    });

    it('a missing database', async () => {
      const url = await changed((each) => {
        each.pathname = '/nobody_made_this';
      });
      await expect(open(url)).rejects.toMatchObject({ code: 'store_access_denied' });
    });

    it('a database in which another program has a table of the same name, without changing it', async () => {
      const where = await place('empty');
      await where.query('create table runs (of_mine text)');
      await expect(open(where.url)).rejects.toMatchObject({ code: 'store_foreign' });
      const tables = await where.query("select tablename from pg_tables where schemaname = 'public'");
      expect(tables).toEqual([{ tablename: 'runs' }]);
    });

    it('a read-only user, at the first write', async () => {
      const where = await place();
      const url = new URL(where.url);
      const reader = `reader_${url.pathname.slice(1)}`;
      await where.query(`create role ${reader} login password 'r'`);
      await where.query(`grant select on all tables in schema public to ${reader}`);
      url.username = reader;
      url.password = 'r';
      const store = await open(url.href);
      expect(await store.projects.list()).toEqual([]);
      await expect(store.projects.ensure('p', 1)).rejects.toMatchObject({ code: 'store_not_writable' });
      await store.close();
      await where.query(`drop owned by ${reader}`);
      await where.query(`drop role ${reader}`);
    });
  });

  onEngine(engine, 'survives lost connections', ({ place }) => {
    const endConnections = (where: StorePlace) =>
      where.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'baton' and datname = current_database()`,
      );

    it('that were idle: it logs that and opens new ones', async () => {
      const where = await place();
      const logger = memoryLogger();
      const store = await open(where.url, logger);
      await Promise.all(Array.from({ length: 5 }, (_, index) => store.projects.ensure(`p${index}`, 1)));
      const ended = await endConnections(where);
      // Before it has heard of an end it may still ask over that connection, and would be refused once.
      await expect.poll(() => logger.events()).toHaveLength(ended.length);
      expect(new Set(logger.events())).toEqual(new Set(['store_connection_lost']));
      expect(await store.projects.list()).toHaveLength(5);
      await store.close();
    });

    it('during a transaction: it is rolled back, and the next one works', async () => {
      const where = await place();
      const store = await open(where.url);
      const key = { project, issueId: 'i1' };
      const broken = store.transaction(async (tables) => {
        await tables.counters.add(key, 'n', 1);
        await endConnections(where);
        await tables.counters.add(key, 'n', 1);
      });
      await expect(broken).rejects.toMatchObject({ code: 'store_unavailable', retryable: true });
      expect(await store.counters.read(key)).toEqual({});
      expect(await store.counters.add(key, 'n', 1)).toBe(1);
      await store.close();
    });
  });

  onEngine(engine, 'resolves a deadlock', ({ place }) => {
    it('between two transactions: one is retried, the other continues', async () => {
      const where = await place();
      const store = await open(where.url);
      const [one, two] = [
        { project, issueId: 'one' },
        { project, issueId: 'two' },
      ];
      const bothBegun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
      const crossed = (first: typeof one, second: typeof one, mine: 0 | 1) =>
        store.transaction(async ({ counters }) => {
          await counters.add(first, 'n', 1);
          bothBegun[mine].resolve();
          await bothBegun[mine === 0 ? 1 : 0].promise;
          await counters.add(second, 'n', 1);
        });
      const ends = await Promise.allSettled([crossed(one, two, 0), crossed(two, one, 1)]);
      const refused = ends.filter((end) => end.status === 'rejected').map((end) => end.reason);
      expect(refused).toMatchObject([{ code: 'store_busy', retryable: true }]);
      expect(await store.counters.read(one)).toEqual({ n: 1 });
      await store.close();
    });
  });
}
