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
  /** Only one daemon may use an SQLite file; visitors (the command line) may open it at the same time. */
  readonly mode: 'daemon' | 'visitor';
}

/** Opens the store, creates it if it is missing, and migrates it to the version of this Baton. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  return storeOver(await openMigrated(parseStoreUrl(options.url), options));
}

/** Opens only the engine, for backup, restore and copy. */
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

/** Loads the driver only when it is needed: a daemon on SQLite never loads it. */
async function openOnServer(url: string, logger: Logger | undefined): Promise<Engine> {
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  return openPostgres(url, logger);
}
