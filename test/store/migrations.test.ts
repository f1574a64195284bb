import { expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { allTables } from '../../src/store/all-tables.ts';
import type { Engine } from '../../src/store/engine.ts';
import { migrate, storeVersion } from '../../src/store/migrations/migrate.ts';
import { type Migration, migrations } from '../../src/store/migrations/migrations.ts';
import { openPostgres } from '../../src/store/postgres/open-postgres.ts';
import { openSqlite } from '../../src/store/sqlite/open-sqlite.ts';
import { parseStoreUrl } from '../../src/store/store-url.ts';
import { onEngine, runStart, type StorePlace } from '../conformance/store.ts';
import { catalogueOf } from './catalogue.ts';
import { engines } from './engines.ts';
import { fillFirstVersion } from './first-version.ts';

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
    it('from nothing and from every version that ever was to the same schema', async () => {
      const fresh = await place('empty');
      await open(fresh);
      const expected = await catalogueOf(engine.name, fresh);
      for (let version = 0; version <= migrations.length; version++) {
        const where = await place('empty');
        await using earlier = disposable(await openEngine(where));
        await migrate(earlier.engine, 'here', systemClock, migrations.slice(0, version));
        expect(await storeVersion(earlier.engine)).toBe(version);
        await open(where);
        expect(await catalogueOf(engine.name, where)).toEqual(expected);
        expect(await storeVersion(earlier.engine)).toBe(migrations.length);
      }
    });

    it('keeps what is there, and writes down what was done', async () => {
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
    it('a store of the first version with all that is in it', async () => {
      const where = await place('empty');
      await using earlier = disposable(await openEngine(where));
      await fillFirstVersion(earlier.engine);
      const store = await open(where);
      const key = { project: 'p', issueId: 'held' };
      const claim = { ...key, owner: 'me', generation: 7, claimedAt: 10, leaseUntil: 20, host: null, slotState: null };
      expect(await store.claims.held('p', 20)).toEqual([{ ...claim, isExpired: true }]);
      expect(await store.claims.generation({ project: 'p', issueId: 'free' })).toBe(3);
      expect(await store.boardIssues.readMany('p', ['held'])).toMatchObject([{ identifier: 'BAT-1', labels: ['a'] }]);
      const live = { runId: 'live', totalTokens: 5, finish: null, evidence: null, removal: null };
      expect(await store.runs.latestOfIssue(key)).toMatchObject(live);
      expect(await store.pins.list('p')).toEqual([]);
      expect(await store.runs.latestOfIssue(key)).toMatchObject({ account: null, lastMessage: null });
      expect([await store.questions.open('p'), await store.accounts.list()]).toEqual([[], []]);
      expect(await store.runs.read('ended')).toMatchObject({ finish: { outcome: 'failed', endedAt: 12 } });
      expect(await store.runEvents.list('live', { limit: 9 })).toHaveLength(1);
      const found = await store.recovery('p', 20);
      expect(found).toMatchObject({ retries: [], held: [{ reason: 'asked to' }], unfinishedRuns: [{ runId: 'live' }] });
      expect(await store.counters.read(key)).toEqual({ n: 9 });
      // What was due runs once more.
      expect(await store.jobTimers.list('p')).toEqual([]);
      expect(await store.commands.read('c')).toMatchObject({
        result: { at: 6, status: 'done', code: 'answered_without_code', text: 'nothing new starts', data: {} },
      });
      const wish = { owner: 'you', host: 'there', at: 30, leaseMs: 60_000, slotState: 'Todo' };
      expect(await store.claims.take(key, wish)).toMatchObject({ generation: 8, host: 'there', slotState: 'Todo' });
    });

    // @conforms runs.45
    it('runs of a time before they had an order into that of their starts, and counts on from there', async () => {
      const where = await place('empty');
      await using earlier = disposable(await openEngine(where));
      await migrate(earlier.engine, 'here', systemClock, migrations.slice(0, 5));
      const old = [
        ['p', 'third', 30],
        ['p', 'first', 10],
        ['q', 'only', 99],
        ['p', 'second-b', 20],
        ['p', 'second-a', 20],
      ] as const;
      for (const [project, id, startedAt] of old)
        await where.query(`insert into runs (run_id, project, issue_id, identifier, generation, role, backend, host,
          started_at, turns, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, total_tokens,
          cost_micro_usd) values ('${id}', '${project}', 'i1', 'X', 1, 'w', 'b', 'h', ${startedAt}, 0, 0, 0, 0, 0, 0, 0)`);
      const { runs } = await open(where);
      const listed = async (project: string) => (await runs.list(project, { limit: 9 })).map(({ runId }) => runId);
      expect(await listed('p')).toEqual(['third', 'second-b', 'second-a', 'first']);
      // By a clock that was set back.
      for (const project of ['p', 'q']) await runs.start(runStart(`new-${project}`, { project, startedAt: 5 }));
      expect(await listed('p')).toEqual(['new-p', 'third', 'second-b', 'second-a', 'first']);
      expect(await listed('q')).toEqual(['new-q', 'only']);
    });

    it('leaves a newer store alone, for daemons and for visitors', async () => {
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

    it('takes nothing of a migration that fails in the middle', async () => {
      const where = await place();
      await open(where);
      const before = await catalogueOf(engine.name, where);
      await using later = disposable(await openEngine(where));
      await expect(migrate(later.engine, 'here', systemClock, [...migrations, broken])).rejects.toThrow(
        'in the middle',
      );
      expect(await catalogueOf(engine.name, where)).toEqual(before);
      expect(await storeVersion(later.engine)).toBe(migrations.length);
    });

    it('once, when many open a new store at the same time', async () => {
      const where = await place('empty');
      const stores = await Promise.all(Array.from({ length: 6 }, () => open(where)));
      await Promise.all(stores.map((store, index) => store.projects.ensure(`p${index}`, 1)));
      expect(await where.query('select number from baton_migrations')).toHaveLength(migrations.length);
      expect(await stores[0]?.projects.list()).toHaveLength(6);
    });

    it('to the tables that a copy takes along, all of them', async () => {
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
