import { type ChildProcess, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { BatonError } from '../core/baton-error.ts';
import type { ChildEnvironment } from './child-environment.ts';
import { type Custody, commandUnderCustody } from './containment/custody.ts';
import { daemonMarker, runMarker } from './containment/process-table.ts';
import { findProgram } from './find-program.ts';

export interface ProgramRequest {
  /** A name found on the PATH of `env`, or a path. Never shell text. */
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** Complete, as `childEnvironment` builds it. */
  readonly env: ChildEnvironment;
  /** Exported as BATON_RUN_ID, by which everything that the program starts is found again. */
  readonly runId: string;
}

export type StartedProgram = ChildProcess & { readonly pid: number; stdout: Readable; stderr: Readable };

/**
 * The only `spawn` in Baton: in a session and process group of its own, with the containment of the machine. Rejects
 * with `process_spawn_failed` when the program cannot be started; then nothing was started.
 */
export async function spawnProgram(
  request: ProgramRequest,
  owner: { readonly custody: Custody; readonly daemonId: string },
  stdin: 'pipe' | 'ignore',
): Promise<StartedProgram> {
  const folder = await stat(request.cwd).catch(() => null);
  if (!folder?.isDirectory()) throw spawnFailed(request, `its working directory ${request.cwd} does not exist`);
  // Resolved here, because in a namespace only the shell inside would notice that the program is missing.
  const program = await findProgram(request.command, { cwd: request.cwd, path: request.env.PATH });
  if (program === null) throw spawnFailed(request, `no such program that may be executed, seen from ${request.cwd}`);

  const { file, args } = commandUnderCustody(owner.custody, program, request.args);
  try {
    const child = spawn(file, args, {
      cwd: request.cwd,
      // Last, for a Baton that an agent works on has the markers of that agent in its own environment.
      env: { ...request.env, [runMarker]: request.runId, [daemonMarker]: owner.daemonId },
      stdio: [stdin, 'pipe', 'pipe'],
      detached: true, // Its own session and process group.
    });
    // No caller waits for later errors (a signal that could not be sent).
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

/** Names program and directory; never the arguments, which may hold a prompt. */
function spawnFailed(request: ProgramRequest, reason: string, cause?: unknown): BatonError {
  return new BatonError('process_spawn_failed', `${request.command} could not be started: ${reason}.`, {
    cause,
    details: { program: request.command, cwd: request.cwd },
  });
}
