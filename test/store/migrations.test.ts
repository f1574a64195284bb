import { expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { allTables } from '../../src/store/all-tables.ts';
import type { Engine } from '../../src/store/engine.ts';
import { appliedMigrations, migrate } from '../../src/store/migrations/migrate.ts';
import type { Migration } from '../../src/store/migrations/migration.ts';
import { migrations } from '../../src/store/migrations/migrations.ts';
import { openPostgres } from '../../src/store/postgres/open-postgres.ts';
import { openSqlite } from '../../src/store/sqlite/open-sqlite.ts';
import { parseStoreUrl } from '../../src/store/store-url.ts';
import { onEngine, type StorePlace } from '../conformance/store.ts';
import { catalogueOf } from './catalogue.ts';
import { engines } from './engines.ts';

const tomorrow: Migration = {
  name: 'of tomorrow',
  up: async (db, types) => {
    await db.schema.alterTable('projects').addColumn('colour', types.text).execute();
  },
};

const broken: Migration = {
  name: 'broken',
  up: async (db, types) => {
    await db.schema.createTable('half').addColumn('made', types.integer).execute();
    throw new Error('in the middle');
  },
};

for (const engine of engines) {
  onEngine(engine, 'migrates', ({ open, place }) => {
    it('from nothing and from every released version to the same schema', async () => {
      const fresh = await place('empty');
      await open(fresh);
      const expected = await catalogueOf(engine.name, fresh);
      for (let version = 0; version <= migrations.length; version++) {
        const where = await place('empty');
        await using earlier = disposable(await openEngine(where));
        await migrate(earlier.engine, 'here', systemClock, migrations.slice(0, version));
        expect(await appliedMigrations(earlier.engine)).toHaveLength(version);
        await open(where);
        expect(await catalogueOf(engine.name, where)).toEqual(expected);
        expect(await appliedMigrations(earlier.engine)).toHaveLength(migrations.length);
      }
    });

    it('keeps the data, and records each migration', async () => {
      const where = await place('empty');
      const store = await open(where);
      await store.projects.ensure('alpha', 5);
      await using later = disposable(await openEngine(where));
      const done = await migrate(later.engine, 'here', systemClock, [...migrations, tomorrow]);
      expect(done).toEqual({ from: migrations.length, to: migrations.length + 1 });
      expect(await where.query('select name, colour from projects')).toMatchObject([{ name: 'alpha', colour: null }]);
      const names = await where.query('select name from baton_migrations order by number');
      expect(names.map(({ name }) => name)).toEqual([...migrations, tomorrow].map(({ name }) => name));
    });

    // @conforms runs.60
    it('refuses a store of an unreleased build, and changes nothing', async () => {
      for (const names of [['0001-first-schema'], ['0001-first-schema', '0002-durable-claims']]) {
        const where = await place('empty');
        const earlier = disposable(await openEngine(where));
        await migrate(earlier.engine, 'here', systemClock);
        await where.query('delete from baton_migrations');
        for (const [index, name] of names.entries())
          await where.query(`insert into baton_migrations values (${index + 1}, '${name}', 1)`);
        await earlier[Symbol.asyncDispose]();
        const before = await catalogueOf(engine.name, where);
        for (const mode of ['daemon', 'visitor'] as const)
          await expect(open(where, mode)).rejects.toMatchObject({ code: 'store_unreleased' });
        expect(await catalogueOf(engine.name, where)).toEqual(before);
        expect(await where.query('select * from baton_migrations')).toHaveLength(names.length);
      }
    });

    it('leaves a newer store unchanged, for daemons and for visitors', async () => {
      const where = await place('empty');
      const later = disposable(await openEngine(where));
      await migrate(later.engine, 'here', systemClock, [...migrations, tomorrow]);
      await later[Symbol.asyncDispose]();
      const before = await catalogueOf(engine.name, where);
      for (const mode of ['daemon', 'visitor'] as const) {
        await expect(open(where, mode)).rejects.toMatchObject({
          code: 'store_newer',
          details: { found: migrations.length + 1, known: migrations.length },
        });
      }
      expect(await catalogueOf(engine.name, where)).toEqual(before);
    });

    it('rolls back a migration that fails in the middle', async () => {
      const where = await place();
      await open(where);
      const before = await catalogueOf(engine.name, where);
      await using later = disposable(await openEngine(where));
      await expect(migrate(later.engine, 'here', systemClock, [...migrations, broken])).rejects.toThrow(
        'in the middle',
      );
      expect(await catalogueOf(engine.name, where)).toEqual(before);
      expect(await appliedMigrations(later.engine)).toHaveLength(migrations.length);
    });

    it('once, when many open a new store at the same time', async () => {
      const where = await place('empty');
      const stores = await Promise.all(Array.from({ length: 6 }, () => open(where)));
      await Promise.all(stores.map((store, index) => store.projects.ensure(`p${index}`, 1)));
      expect(await where.query('select number from baton_migrations')).toHaveLength(migrations.length);
      expect(await stores[0]?.projects.list()).toHaveLength(6);
    });

    it('to exactly the tables that a copy includes', async () => {
      const where = await place();
      await open(where);
      const { tables } = await catalogueOf(engine.name, where);
      expect(Object.keys(tables).toSorted()).toEqual(
        ['baton_migrations', ...allTables.map(({ name }) => name)].toSorted(),
      );
    });
  });
}

it('gives both engines the same tables, columns, keys and indexes', async ({ skip }) => {
  const missing = engines.find((engine) => engine.missing !== null);
  if (missing) skip(missing.missing ?? '');
  const [left, right] = await Promise.all(
    engines.map(async (engine) => {
      const where = await engine.place();
      await using opened = disposable(await openEngine(where));
      await migrate(opened.engine, 'here', systemClock);
      const catalogue = await catalogueOf(engine.name, where);
      await where.remove();
      return catalogue;
    }),
  );
  expect(Object.keys(left?.tables ?? {})).toHaveLength(allTables.length + 1);
  expect(left).toEqual(right);
});

async function openEngine(where: StorePlace): Promise<Engine> {
  const location = parseStoreUrl(where.url);
  return location.engine === 'sqlite' ? openSqlite(location.file, 'visitor', systemClock) : openPostgres(location.url);
}

function disposable(engine: Engine): { readonly engine: Engine } & AsyncDisposable {
  return { engine, [Symbol.asyncDispose]: () => engine.close() };
}
