import { CompiledQuery } from 'kysely';
import { systemClock } from '../../src/clock/system-clock.ts';
import { migrate } from '../../src/store/migrations/migrate.ts';
import { migrations } from '../../src/store/migrations/migrations.ts';
import { openSqlite } from '../../src/store/sqlite/open-sqlite.ts';
import type { FaultScene } from './fault-scene.ts';
import { storeFile } from './store-file.ts';
import { workedTicket } from './tickets.ts';

/** Gives a scene a store of the first version, with so many tickets to be done in it. */
export async function fileInFirstVersion(scene: FaultScene, count: number): Promise<void> {
  const file = storeFile(scene.place);
  const engine = await openSqlite(file, 'visitor', systemClock);
  await migrate(engine, file, systemClock, migrations.slice(0, 1));
  const run = (text: string, ...values: unknown[]) => engine.db.executeQuery(CompiledQuery.raw(text, values));
  await run("insert into projects (id, name, created_at) values ('p', 'fault', 1)");
  await run("insert into board_counters values ('p', ?)", count);
  for (let number = 1; number <= count; number += 1) {
    await run(
      `insert into board_issues
         (project, id, identifier, title, description, status, dispatch_rank, labels_json, created_at, updated_at)
       values ('p', ?, ?, 'Title', ?, 'todo', ?, '[]', 1, 1)`,
      ...[`issue-${number}`, `BAT-${number}`, workedTicket(), number],
    );
  }
  await engine.close();
  scene.tickets = count;
}
