import type { Migration } from '../migration.ts';
import { makeBoard } from './board-tables.ts';
import { makeCommands, makeNotifications, makeQuestions } from './people-tables.ts';
import { makeCounts, makeRuns } from './run-tables.ts';
import { makeProjects, makeScheduling } from './scheduling-tables.ts';

/** The schema of the first release. */
export const firstSchema: Migration = {
  name: '0001-schema',
  up: async (db, types) => {
    await makeProjects(db, types);
    await makeBoard(db, types);
    await makeScheduling(db, types);
    await makeRuns(db, types);
    await makeCounts(db, types);
    await makeCommands(db, types);
    await makeQuestions(db, types);
    await makeNotifications(db, types);
  },
};
