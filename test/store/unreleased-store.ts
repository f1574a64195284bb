import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../src/clock/system-clock.ts';
import { openStore } from '../../src/store/open-store.ts';

/** Makes a store that says it was made by a build which was never released. */
export async function makeUnreleased(file: string): Promise<void> {
  const store = await openStore({ url: `sqlite:${file}`, clock: systemClock, mode: 'visitor' });
  await store.close();
  const database = new DatabaseSync(file);
  database.exec("update baton_migrations set name = '0001-first-schema'");
  database.close();
}
