import path from 'node:path';
import { ApiClient, type ProjectClient } from '../client/api-client.ts';
import type { Project } from '../client/schema/system.ts';
import { inProcess, overSocket, type Send } from '../client/send.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Author } from '../core/issue/author.ts';
import { socketPath } from '../server/socket-path.ts';
import { projectOf } from './ask-daemon.ts';
import { stateFolder } from './state-folder.ts';
import type { Surroundings } from './surroundings.ts';
import type { WorkplaceFlags } from './workplace.ts';

/** The API of a project for a command: of the daemon if one answers, otherwise of the store alone. */
export interface Connection extends AsyncDisposable {
  readonly workflowPath: string;
  readonly described: Project;
  readonly project: ProjectClient;
  /** Whether a daemon has answered every request so far. */
  isDaemon(): boolean;
}

/**
 * Connects to the daemon of a workflow file over its local socket. From the first unanswered request on, the same API
 * runs on the store alone. A command must therefore carry a key, so that it is stored once. The workflow file is read
 * only when no daemon answers, because it may be invalid while a daemon keeps running.
 */
export async function connect(
  flags: WorkplaceFlags,
  surroundings: Surroundings,
  options: { readonly author?: Author } = {},
): Promise<Connection> {
  const workflowPath = path.resolve(surroundings.cwd, flags.workflow ?? 'WORKFLOW.md');
  const stateDir = stateFolder(workflowPath, flags.stateDir, surroundings);
  const askDaemon = overSocket(socketPath(stateDir, surroundings.tmpDir), surroundings.clock);
  await using opened = new AsyncDisposableStack();
  let askStore: Send | null = null;
  const send: Send = async (request) => {
    if (askStore !== null) return askStore(request);
    try {
      return await askDaemon(request);
    } catch (thrown) {
      if (!(thrown instanceof BatonError && thrown.code === 'daemon_unreachable')) throw thrown;
    }
    askStore = await openStore();
    return askStore(request);
  };
  const openStore = async (): Promise<Send> => {
    const { openStoredApi } = await import('./services/stored-project.ts');
    const { openWorkplace } = await import('./workplace.ts');
    const workplace = kept.use(await openWorkplace(flags, surroundings));
    return inProcess(await openStoredApi(workplace, surroundings));
  };
  let kept = opened;
  const client = new ApiClient(send, options);
  const described = await projectOf(workflowPath, client);
  kept = opened.move();
  return {
    workflowPath,
    described,
    project: client.project(described.name),
    isDaemon: () => askStore === null,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
