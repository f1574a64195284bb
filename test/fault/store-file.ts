import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { stateFolder } from '../../src/daemon/state-folder.ts';
import type { Surroundings } from '../../src/daemon/surroundings.ts';
import type { Place } from '../cli/run-baton.ts';

export interface Row {
  readonly [column: string]: unknown;
}

/** Where the daemon of a place has its store. */
export function storeFile(place: Place): string {
  // No other variable decides where the folder is.
  const surroundings = { env: place.env, cwd: place.folder, homeDir: place.home } as unknown as Surroundings;
  return path.join(stateFolder(path.join(place.folder, 'WORKFLOW.md'), undefined, surroundings), 'baton.db');
}

/** Reads the store while the daemon runs, in this process: a process for each read would keep the machine busy. */
export function readStore(place: Place, statement: string): Row[] {
  return readStoreAt(storeFile(place), statement);
}

/** As `readStore`, of a store that is somewhere else. */
export function readStoreAt(file: string, statement: string): Row[] {
  const database = new DatabaseSync(file, { timeout: 5000 });
  try {
    const rows = database.prepare(statement).all();
    return rows.map((row) => ({ ...row }));
  } finally {
    database.close();
  }
}
