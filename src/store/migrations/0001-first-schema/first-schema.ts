import type { Migration } from '../migrations.ts';
import { makeBoard } from './board-tables.ts';
import { makeCounts, makeRuns } from './run-tables.ts';
import { makeCommands, makeProjects, makeScheduling } from './scheduling-tables.ts';

/** The board, scheduling, runs, counts and commands. */
export const firstSchema: Migration = {
  name: '0001-first-schema',
  up: async (db, types) => {
    await makeProjects(db, types);
    await makeBoard(db, types);
    await makeScheduling(db, types);
    await makeRuns(db, types);
    await makeCounts(db, types);
    await makeCommands(db, types);
  },
};
