import { constants, copyFileSync, rmSync } from 'node:fs';
import { CompiledQuery, sql } from 'kysely';
import type { Clock } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { allTables } from '../all-tables.ts';
import { openMigrated } from '../open-store.ts';
import { verifyStoreFile } from '../sqlite/check-sqlite.ts';
import { parseStoreUrl } from '../store-url.ts';
import { backupStore, keptName } from './backup-store.ts';
import { copyTables } from './copy-store.ts';
import { fencingStatements, type GenerationBefore, generationsBefore } from './fence-restored.ts';

export interface RestoreLiveOptions {
  readonly file: string;
  readonly url: string;
  readonly clock: Clock;
}

/**
 * Replaces the content of a store that a daemon has open, in one transaction, so that every reader sees the old store
 * or the new one. Keeps the old content as a backup and returns its name. The daemon loses every claim; the caller has
 * to make it read its state again.
 */
export async function restoreLive({ file, url, clock }: RestoreLiveOptions): Promise<string> {
  const target = parseStoreUrl(url);
  if (target.engine !== 'sqlite')
    throw new BatonError('store_backup_failed', 'Only an SQLite store can be restored while its daemon runs.');
  verifyStoreFile(file);
  const kept = keptName(target.file, clock);
  backupStore(url, kept);
  // A copy, because a backup of an earlier version is migrated first, and the file itself must not change.
  const draft = `${target.file}.restoring-${process.pid}`;
  copyFileSync(file, draft, constants.COPYFILE_EXCL);
  try {
    const source = await openMigrated({ engine: 'sqlite', file: draft }, { clock, mode: 'visitor' });
    try {
      const live = await openMigrated(target, { clock, mode: 'visitor' });
      try {
        await live.db.transaction().execute(async (fresh) => {
          const before = await fresh.executeQuery(
            CompiledQuery.raw(generationsBefore) as CompiledQuery<GenerationBefore>,
          );
          for (const { name } of allTables.toReversed()) await sql`delete from ${sql.table(name)}`.execute(fresh);
          await copyTables(source.db, fresh, live.name);
          for (const { text, parameters } of fencingStatements(before.rows)) {
            await fresh.executeQuery(CompiledQuery.raw(text, [...parameters]));
          }
        });
      } finally {
        await live.close();
      }
    } finally {
      await source.close();
    }
  } finally {
    for (const end of ['', '-wal', '-shm']) rmSync(`${draft}${end}`, { force: true });
  }
  return kept;
}
