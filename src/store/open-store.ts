import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { Engine } from './engine.ts';
import { migrate } from './migrations/migrate.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { type Store, storeOver } from './store.ts';
import { describeLocation, parseStoreUrl, type StoreLocation } from './store-url.ts';

export interface OpenStoreOptions {
  /** `sqlite:/absolute/path/baton.db`, or `postgres://…`. */
  readonly url: string;
  readonly clock: Clock;
  readonly logger?: Logger;
  /** A daemon has an SQLite file to itself; visitors (the command line) come and go meanwhile. */
  readonly mode: 'daemon' | 'visitor';
}

/** Opens the store, makes it where there is none, and brings it to the version of this Baton. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  return storeOver(await openMigrated(parseStoreUrl(options.url), options));
}

/** The engine alone, for the acts that move whole stores about. */
export async function openMigrated(location: StoreLocation, options: Omit<OpenStoreOptions, 'url'>): Promise<Engine> {
  const engine =
    location.engine === 'sqlite'
      ? await openSqlite(location.file, options.mode, options.clock)
      : await openOnServer(location.url, options.logger);
  try {
    const place = describeLocation(location);
    const { from, to } = await migrate(engine, place, options.clock);
    if (from !== to) options.logger?.info('store_migrated', { store: place, from, to });
    return engine;
  } catch (thrown) {
    await engine.close();
    throw thrown;
  }
}

/** The driver is loaded where it is used; a daemon on SQLite does without it. */
async function openOnServer(url: string, logger: Logger | undefined): Promise<Engine> {
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  return openPostgres(url, logger);
}
