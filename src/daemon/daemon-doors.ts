import path from 'node:path';
import type { Logger } from '../core/logger.ts';
import { LocalSocket } from '../server/local-socket.ts';
import { presentStatus } from '../server/present-status.ts';
import { makeSocketFolder } from '../server/socket-path.ts';
import { presentRequests } from './present-requests.ts';
import type { BoardWatch } from './services/board-watch.ts';
import { joinApi, type NotifyParts, startNotifying } from './services/join-api.ts';
import type { OpenedApi } from './services/open-api.ts';
import type { Surroundings } from './surroundings.ts';
import type { StatePlace } from './workplace.ts';

export interface DoorParts extends Omit<NotifyParts, 'cwd' | 'dashboardUrl'> {
  readonly place: StatePlace;
  readonly workflowPath: string;
  readonly boardWatch: BoardWatch;
  readonly logger: Logger;
  /** Where this Baton is looked at; absent where nobody looks. */
  readonly api: OpenedApi | undefined;
  /** What the API needs besides, and how this daemon is known among processes. */
  readonly facts: Omit<Parameters<typeof joinApi>[1], 'orchestrator' | 'store' | 'project' | 'remote' | 'boardWatch'>;
  readonly daemonId: string;
}

/** Lets others reach a daemon, and it them: commands on this machine, people who look, people who are told. */
export async function openDoors(
  opened: AsyncDisposableStack,
  parts: DoorParts,
  surroundings: Surroundings,
): Promise<void> {
  const { orchestrator, place, remote, boardWatch, logger, api } = parts;
  makeSocketFolder(place.stateDir, surroundings.tmpDir);
  const answers = {
    wake: () => {
      orchestrator.wake();
      boardWatch.look();
    },
    reload: () => orchestrator.reload(),
    status: () => ({
      ...presentStatus(orchestrator.read()),
      requests: remote.views().map(presentRequests),
      api: api?.address.url ?? null,
    }),
    explain: (issue: string) => orchestrator.explain(issue),
  };
  opened.use(await LocalSocket.open({ path: place.socket, answers, clock: surroundings.clock, logger }));
  const dashboardUrl = (): string | null => api?.address.url ?? null;
  opened.use(startNotifying({ ...parts, cwd: path.dirname(parts.workflowPath), dashboardUrl }, surroundings));
  if (api === undefined) return;
  const { store, project } = parts;
  const leave = joinApi(
    api,
    { ...parts.facts, orchestrator, store, project, remote, boardWatch },
    { daemonId: parts.daemonId },
  );
  opened.defer(leave);
}
