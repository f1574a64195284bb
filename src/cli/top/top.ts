import path from 'node:path';
import { ApiClient } from '../../client/api-client.ts';
import { overSocket } from '../../client/send.ts';
import { stateFolder } from '../../daemon/state-folder.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { socketPath } from '../../server/socket-path.ts';
import { exitCodes } from '../exit-codes.ts';
import { commandsHere } from '../place-flags.ts';
import { clientSource } from './client-source.ts';
import { runTop } from './run-top.ts';

/** `baton top`: what the daemon of a workflow file is doing, full screen, until the user leaves. */
export async function top(flags: WorkplaceFlags, surroundings: Surroundings): Promise<number> {
  const { clock, cwd, tmpDir } = surroundings;
  const stateDir = stateFolder(path.resolve(cwd, flags.workflow ?? 'WORKFLOW.md'), flags.stateDir, surroundings);
  const client = new ApiClient(overSocket(socketPath(stateDir, tmpDir), clock));
  await runTop(clientSource(client), surroundings, clock, { here: commandsHere(flags, surroundings) });
  return exitCodes.ok;
}
