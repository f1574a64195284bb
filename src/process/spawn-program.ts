import { type ChildProcess, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { BatonError } from '../core/baton-error.ts';
import type { ChildEnvironment } from './child-environment.ts';
import { type Containment, containedCommand } from './containment/containment.ts';
import { daemonMarker, runMarker } from './containment/process-table.ts';
import { absoluteElements, findProgram } from './find-program.ts';

export interface ProgramRequest {
  /** A name found on the absolute elements of the PATH of `env`, or a path. Never shell text. */
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** Complete, as `childEnvironment` builds it. The child gets the absolute elements of its PATH only. */
  readonly env: ChildEnvironment;
  /** Exported as BATON_RUN_ID. Baton finds everything that the program starts by it. */
  readonly runId: string;
}

export type StartedProgram = ChildProcess & { readonly pid: number; stdout: Readable; stderr: Readable };

/**
 * The only call of `spawn` in Baton. The program gets its own session and process group, and the given containment.
 * Rejects with `process_spawn_failed` when the program cannot be started; then nothing was started.
 */
export async function spawnProgram(
  request: ProgramRequest,
  owner: { readonly containment: Containment; readonly daemonId: string },
  stdin: 'pipe' | 'ignore',
): Promise<StartedProgram> {
  const folder = await stat(request.cwd).catch(() => null);
  if (!folder?.isDirectory()) throw spawnFailed(request, `its working directory ${request.cwd} does not exist`);
  // Checked here, because in a namespace the spawned command is `setpriv`, which starts even if the program is missing.
  const searchPath = absoluteElements(request.env.PATH);
  const program = await findProgram(request.command, { cwd: request.cwd, path: searchPath });
  if (program === null)
    throw spawnFailed(request, `there is no executable file with that name, searched from ${request.cwd}`);

  const { file, args } = containedCommand(owner.containment, process.geteuid?.(), program, request.args);
  try {
    const child = spawn(file, args, {
      cwd: request.cwd,
      // Last, because Baton may itself run inside an agent and then has that agent's markers in its environment.
      env: { ...request.env, PATH: searchPath, [runMarker]: request.runId, [daemonMarker]: owner.daemonId },
      stdio: [stdin, 'pipe', 'pipe'],
      detached: true, // Its own session and process group.
    });
    // Ignores later errors, such as a signal that could not be sent.
    child.on('error', () => {});
    if (hasStarted(child)) return child;
    throw await new Promise((resolve) => child.once('error', resolve));
  } catch (error) {
    throw spawnFailed(request, error instanceof Error ? error.message : String(error), error);
  }
}

function hasStarted(child: ChildProcess): child is StartedProgram {
  return child.pid !== undefined && child.stdout !== null && child.stderr !== null;
}

/** Names the program and the directory, never the arguments, which may contain a prompt. */
function spawnFailed(request: ProgramRequest, reason: string, cause?: unknown): BatonError {
  return new BatonError('process_spawn_failed', `Failed to start ${request.command}: ${reason}.`, {
    cause,
    details: { program: request.command, cwd: request.cwd },
  });
}
