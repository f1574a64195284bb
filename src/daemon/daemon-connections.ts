import path from 'node:path';
import type { Logger } from '../core/logger.ts';
import { openLocalSocket } from '../server/local-socket.ts';
import { makeSocketFolder } from '../server/socket-path.ts';
import type { ApiProjectParts } from './services/compose-project.ts';
import { joinApi, type NotifyParts, startNotifying } from './services/join-api.ts';
import type { OpenedApi } from './services/open-api.ts';
import type { Surroundings } from './surroundings.ts';
import type { StatePlace } from './workplace.ts';

export interface ConnectionParts extends Omit<NotifyParts, 'cwd' | 'dashboardUrl'> {
  readonly place: StatePlace;
  readonly workflowPath: string;
  readonly logger: Logger;
  /** Absent when this daemon has no API. */
  readonly api: OpenedApi | undefined;
  /** What else the API needs, and how processes identify this daemon. */
  readonly facts: Omit<ApiProjectParts, 'orchestrator' | 'store' | 'project' | 'remote' | 'delay' | 'dashboardUrl'>;
  readonly daemonId: string;
}

/**
 * Connects a daemon with people and programs: notifications, the API over HTTP, and the same API on its local socket.
 */
export async function connectDaemon(
  opened: AsyncDisposableStack,
  parts: ConnectionParts,
  surroundings: Surroundings,
): Promise<void> {
  const { orchestrator, place, remote, logger, api, store, project } = parts;
  const dashboardUrl = api?.address?.url ?? null;
  const notifying = { ...parts, cwd: path.dirname(parts.workflowPath), dashboardUrl: () => dashboardUrl };
  opened.use(startNotifying(notifying, surroundings));
  if (api === undefined) return;
  const known = { ...parts.facts, orchestrator, store, project, remote, dashboardUrl };
  opened.defer(joinApi(api, known, { daemonId: parts.daemonId }));
  makeSocketFolder(place.stateDir, surroundings.tmpDir);
  const { clock, chance } = surroundings;
  const socket = opened.use(await openLocalSocket({ path: place.socket, clock, chance, logger }));
  socket.mount('/', api.routes);
}
