import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { type ApiProject, createApiProjects } from '../../src/server/api/api-project.ts';
import { CostlyReads } from '../../src/server/api/costly-reads.ts';
import { localCaller } from '../../src/server/api/identify.ts';
import { mountRoutes } from '../../src/server/api/mount-routes.ts';
import { readRoutes } from '../../src/server/api/routes/read-routes.ts';
import type { ServedRoutes } from '../../src/server/listener.ts';
import { openLocalSocket } from '../../src/server/local-socket.ts';
import { memoryLogger } from './memory-logger.ts';

/** Listens on the socket of a place's daemon, and answers with a project that has only these parts. */
export async function fakeDaemon(path: string, known: Partial<ApiProject>): Promise<ServedRoutes> {
  const logger = memoryLogger();
  const projects = createApiProjects();
  const described = { name: 'live', tracker: 'board', has_board: true, states: [], workflow_path: '', version: '0' };
  // A test does not use the parts that it does not give.
  projects.add({ name: 'live', id: 'live', describe: () => described, ...known } as ApiProject);
  const served = await openLocalSocket({ path, logger, clock: systemClock, chance: systemChance });
  const identify = async (request: Request) => localCaller(request, { kind: 'user' }, 'me');
  const routes = readRoutes({ projects, clock: systemClock });
  served.mount('/', mountRoutes(routes, { projects, identify, logger, costly: new CostlyReads() }));
  return served;
}
