import { BatonError } from '../core/baton-error.ts';
import { type ChildEnvironment, childEnvironment, usualVariables } from '../process/child-environment.ts';
import type { LiveProcess, StopOptions } from '../process/containment/live-process.ts';
import type { Isolate } from '../process/isolation/plan-isolation.ts';
import { type LaunchRequest, launch } from '../process/launch.ts';
import type { ProcessDeps } from '../process/start-child.ts';
import type { SessionRequest } from './agent.ts';
import { keptName, loginShellText } from './shell-text.ts';

/** What every backend needs to start its program. */
export interface AgentParts extends ProcessDeps {
  /** The daemon's own environment. */
  readonly daemonEnv: Readonly<Record<string, string | undefined>>;
  /** Names of further variables that the agent gets from it: those the backend needs and those the workflow names. */
  readonly allowEnv: readonly string[];
  /** Variables of the account whose quota is used. They may hold secrets: they go to the agent and nowhere else. */
  readonly accountEnv: Readonly<Record<string, string>>;
  /** Names of variables that hold tracker secrets. They win over everything else. */
  readonly denyEnv: readonly string[];
  /** What the agent sees of the machine's files; absent: what the user sees. */
  readonly isolate?: Isolate;
}

/** Tells the program that its session only reads the workspace. */
export const readOnlyVariable = 'BATON_READ_ONLY';

export interface AgentProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly stdin: 'open' | { readonly text: string };
  /** Folders of Baton itself that the program writes to, also in a session that only reads its workspace. */
  readonly writes?: readonly string[];
}

/** Starts an agent's program in the workspace of its session, with an environment from the allow-list. */
export async function launchAgent(
  program: AgentProgram,
  request: SessionRequest,
  parts: AgentParts,
): Promise<LiveProcess> {
  const process = await launchContained(program, request.workspace, request, parts);
  request.onProcess({ pid: process.pid, startTime: process.startTime });
  // Attached before any other handler of the exit, so the end is reported before anyone can act on it.
  void process.exited.then(() => request.onProcess(null));
  return process;
}

/** A text for bash that an agent lets Baton run, with its positional parameters and the variables that the agent chose. */
export interface AgentCommand {
  readonly text: string;
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly maxLineBytes: number;
}

/** Names that bash sets itself and lets no one change. */
const ofBash: ReadonlySet<string> = new Set(['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID']);

/**
 * Starts a command that the agent lets Baton run for it: contained as the agent is, with more variables. What must hold:
 * the variables count only inside. The programs that make the namespaces run outside, as the user: an agent that chose
 * their PATH or their LD_PRELOAD would choose what runs there.
 */
export async function launchBeside(
  { text, args, variables, maxLineBytes }: AgentCommand,
  cwd: string,
  request: SessionRequest,
  parts: AgentParts,
): Promise<LiveProcess> {
  const chosen = Object.entries(variables).filter(
    ([name]) => !ofBash.has(name) && !name.startsWith('BATON_') && !Object.hasOwn(request.env, name),
  );
  const kept = Object.fromEntries(chosen.map(([name, value]) => [keptName(name), value]));
  const names = chosen.map(([name]) => name);
  const program = { command: 'bash', args: ['-c', loginShellText(text, parts.denyEnv, names), 'bash', ...args] };
  const env = { ...kept, ...request.env };
  return launchContained({ ...program, stdin: 'none' }, cwd, { ...request, env }, parts, maxLineBytes);
}

async function launchContained(
  { writes = [], ...program }: Omit<AgentProgram, 'stdin'> & Pick<LaunchRequest, 'stdin'>,
  cwd: string,
  request: SessionRequest,
  parts: AgentParts,
  maxLineBytes?: number,
): Promise<LiveProcess> {
  const { workspace, writableRoots, runId, isReadOnly = false } = request;
  const roots = isReadOnly ? { writes, reads: writableRoots } : { writes: [...writableRoots, ...writes], reads: [] };
  const isolation = (await parts.isolate?.({ workspace, isReadOnly, ...roots })) ?? null;
  // A daemon that was frozen must not launch an agent next to the one of the daemon that inherited the issue.
  if (!request.isStillOurs()) throw new BatonError('claim_lost', 'The claim on the issue may be lost.');
  const env = agentEnvironment(request, parts);
  const limit = maxLineBytes === undefined ? {} : { maxLineBytes };
  return launch({ ...program, ...limit, cwd, env, runId, isolation }, parts);
}

function agentEnvironment(request: SessionRequest, parts: AgentParts): ChildEnvironment {
  return childEnvironment({
    from: parts.daemonEnv,
    allow: [...usualVariables, ...parts.allowEnv],
    deny: parts.denyEnv,
    // Baton's own variables come last: an account must not pass itself off as another run.
    add: { ...parts.accountEnv, ...request.env, ...(request.isReadOnly ? { [readOnlyVariable]: '1' } : {}) },
  });
}

/**
 * Ends an agent's program and everything it started. Rejects with `agent_survives` when a process could not be ended:
 * while that process may be alive, no second agent may get the issue.
 */
export async function endAgent(process: LiveProcess, options: StopOptions = {}): Promise<void> {
  const { survivorsLeft } = await process.stop(options);
  if (survivorsLeft === 0) return;
  throw new BatonError('agent_survives', `${survivorsLeft} processes of the agent could not be ended.`, {
    details: { pid: process.pid },
  });
}
