import type { Engine } from './engine.ts';
import type { Recovery } from './recovery.ts';
import { storeTables } from './tables/store-tables.ts';

/** Four selects over what is there now, each by an index: neither old runs nor released claims are looked at. */
export function readRecovery(engine: Engine, project: string, at: number): Promise<Recovery> {
  const reading = engine.db.transaction();
  // One moment for all four, whoever writes meanwhile. SQLite always gives that.
  const steady =
    engine.name === 'postgres' ? reading.setIsolationLevel('repeatable read').setAccessMode('read only') : reading;
  return steady.execute(async (inside) => {
    const { claims, retries, held, runs } = storeTables(inside, engine);
    return {
      claims: await claims.held(project, at),
      retries: await retries.list(project),
      held: await held.list(project),
      unfinishedRuns: await runs.unfinished(project),
    };
  });
}
