import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { BatonError } from '../core/baton-error.ts';
import type { ChildEnvironment } from './child-environment.ts';
import { type ContainedProgram, type Containment, containedCommand, wrappers } from './containment/containment.ts';
import { daemonMarker, runMarker } from './containment/process-table.ts';
import { absoluteElements, findProgram } from './find-program.ts';
import { type IsolationPlan, isHiddenBy } from './isolation/isolation-plan.ts';
import { locateRules } from './isolation/locate-rules.ts';
import { mountScript, systemFiles } from './isolation/mount-script.ts';

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
  /** What the program sees of the machine's files. Needs `user_pid_namespace`. Null or absent: what the user sees. */
  readonly isolation?: IsolationPlan | null;
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
  const program = findProgram(request.command, { cwd: request.cwd, path: searchPath });
  if (program === null)
    throw spawnFailed(request, `there is no executable file with that name, searched from ${request.cwd}`);

  const { isolation = null } = request;
  if (isolation !== null) refuseHidden(isolation, request, await realpath(program));
  const user = { id: process.geteuid?.() ?? 0, groupId: process.getegid?.() ?? 0 };
  const mounts = isolation === null ? null : mountScript(locateRules(isolation, systemFiles), user.id);
  const find = findWrappers(request, owner.containment);
  const { cwd, args: programArgs } = request;
  const { file, args } = containedCommand({ ...owner, program, args: programArgs, cwd, user, mounts, find });
  const tables = mounts === null ? [] : [mounts.covering, mounts.showing].map(openTable);
  try {
    const child = spawn(file, args, {
      cwd,
      // Last, because Baton may itself run inside an agent and then has that agent's markers in its environment.
      env: {
        ...request.env,
        PATH: searchPath,
        ...(isolation === null ? {} : { ...isolatedVariables, ...isolation.variables }),
        [runMarker]: request.runId,
        [daemonMarker]: owner.daemonId,
      },
      stdio: [stdin, 'pipe', 'pipe', ...tables],
      detached: true, // Its own session and process group.
    });
    // Ignores later errors, such as a signal that could not be sent.
    child.on('error', () => {});
    if (hasStarted(child)) return child;
    throw await new Promise((resolve) => child.once('error', resolve));
  } catch (error) {
    throw spawnFailed(request, error instanceof Error ? error.message : String(error), error);
  } finally {
    for (const table of tables) closeSync(table);
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

/** The folder for temporary files that every isolated program has. */
const isolatedVariables = { TMPDIR: '/tmp' };

/** Without this check the program would fail with words that do not say why. */
function refuseHidden(plan: IsolationPlan, { command, cwd }: ProgramRequest, program: string): void {
  const hidden = [cwd, program].find((each) => isHiddenBy(plan, each));
  if (hidden === undefined) return;
  throw new BatonError('isolation_hides_path', `${command} could not be started: its isolation hides ${hidden}.`, {
    details: { program: command, path: hidden, setting: 'agent.isolation_read' },
  });
}

function findWrappers(request: ProgramRequest, containment: Containment): ContainedProgram['find'] {
  if (containment !== 'user_pid_namespace') return (name) => name;
  const searchPath = absoluteElements(request.env.PATH);
  const found = wrappersOn.get(searchPath) ?? new Map<string, string>();
  for (const name of request.isolation == null ? wrappers.slice(0, 2) : wrappers) {
    const file = found.get(name) ?? findProgram(name, { cwd: '/', path: searchPath });
    if (file === null) throw spawnFailed(request, `there is no program ${name}`);
    found.set(name, file);
  }
  wrappersOn.set(searchPath, found);
  return (name) => found.get(name) ?? name;
}

/** The same programs start every child, so each is searched once for a PATH. */
const wrappersOn = new Map<string, Map<string, string>>();

/** An open file with a table of mounts that no folder lists, so that nothing is left to remove. */
function openTable(text: string): number {
  const unlisted = 0o20000000 | constants.O_DIRECTORY;
  const table = openSync('/dev/shm', constants.O_RDWR | unlisted, 0o600);
  writeSync(table, text);
  return table;
}
