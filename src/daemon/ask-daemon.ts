import path from 'node:path';
import { ApiClient, type ProjectClient } from '../client/api-client.ts';
import type { Status } from '../client/schema/status.ts';
import type { Project } from '../client/schema/system.ts';
import { overSocket } from '../client/send.ts';
import { systemClock } from '../clock/system-clock.ts';
import { BatonError } from '../core/baton-error.ts';
import { socketPath } from '../server/socket-path.ts';
import { stateFolder } from './state-folder.ts';
import type { Surroundings } from './surroundings.ts';
import type { WorkplaceFlags } from './workplace.ts';

// Asking a daemon loads neither the store nor any adapter, so that a command is quick while a daemon runs.

/** The status that the daemon reports; null when none answers. The workflow file is not read: it may be invalid now. */
export async function daemonStatus(flags: WorkplaceFlags, surroundings: Surroundings): Promise<Status | null> {
  const workflowPath = path.resolve(surroundings.cwd, flags.workflow ?? 'WORKFLOW.md');
  const stateDir = stateFolder(workflowPath, flags.stateDir, surroundings);
  const found = await askDaemon(workflowPath, socketPath(stateDir, surroundings.tmpDir), (daemon) => daemon.status());
  return found?.answer ?? null;
}

/** Asks the daemon of a workflow file that listens at `socket`; null when none answers. */
export async function askDaemon<T>(
  workflowPath: string,
  socket: string,
  ask: (daemon: ProjectClient) => Promise<T>,
): Promise<{ readonly answer: T } | null> {
  try {
    const client = new ApiClient(overSocket(socket, systemClock));
    const { name } = await projectOf(workflowPath, client);
    return { answer: await ask(client.project(name)) };
  } catch (thrown) {
    if (thrown instanceof BatonError && thrown.code === 'daemon_unreachable') return null;
    throw thrown;
  }
}

/** The project of a workflow file; if no project has this exact path, the first one. */
export async function projectOf(workflowPath: string, client: ApiClient): Promise<Project> {
  const projects = await client.projects();
  const own = projects.find(({ workflow_path: each }) => each === workflowPath) ?? projects[0];
  if (own !== undefined) return own;
  throw new BatonError('daemon_unreachable', 'The daemon is starting or stopping.');
}
