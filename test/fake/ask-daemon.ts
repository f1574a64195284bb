import { ApiClient, type ProjectClient } from '../../src/client/api-client.ts';
import type { Status } from '../../src/client/schema/status.ts';
import { overSocket } from '../../src/client/send.ts';
import { systemClock } from '../../src/clock/system-clock.ts';

/** The only project of the daemon that listens at this socket. */
export async function daemonAt(socket: string): Promise<ProjectClient> {
  const client = new ApiClient(overSocket(socket, systemClock));
  const [project] = await client.projects();
  if (project === undefined) throw new Error('the daemon has no project');
  return client.project(project.name);
}

export async function statusAt(socket: string): Promise<Status> {
  return (await daemonAt(socket)).status();
}
