import { BatonError } from '../core/baton-error.ts';
import { type ChildEnvironment, childEnvironment, usualVariables } from '../process/child-environment.ts';
import type { LiveProcess, StopOptions } from '../process/containment/live-process.ts';
import { launch } from '../process/launch.ts';
import type { ProcessDeps } from '../process/start-child.ts';
import type { SessionRequest } from './agent.ts';

/** What every backend needs to start its program. */
export interface AgentParts extends ProcessDeps {
  /** The daemon's own environment. */
  readonly daemonEnv: Readonly<Record<string, string | undefined>>;
  /** Names of variables that the agent gets from it beyond the usual ones: what the backend needs, what the workflow names. */
  readonly allowEnv: readonly string[];
  /** Variables of the account whose quota is used. They may hold secrets: they go to the agent and nowhere else. */
  readonly accountEnv: Readonly<Record<string, string>>;
  /** Names of variables that hold tracker secrets. They win over everything else. */
  readonly denyEnv: readonly string[];
}

export interface AgentProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly stdin: 'open' | { readonly text: string };
}

/** Starts an agent's program in the workspace of its session, with an environment from the allow-list. */
export async function launchAgent(
  program: AgentProgram,
  request: SessionRequest,
  parts: AgentParts,
): Promise<LiveProcess> {
  // A daemon that was frozen must not launch an agent next to the one of the daemon that inherited the issue.
  if (!request.isStillOurs()) throw new BatonError('claim_lost', 'The claim on the issue may be lost.');
  const process = await launch(
    { ...program, cwd: request.workspace, env: agentEnvironment(request, parts), runId: request.runId },
    parts,
  );
  request.onProcess({ pid: process.pid, startTime: process.startTime });
  // Hung on before anybody else can wait for the exit, so whoever knows of the end finds it told.
  void process.exited.then(() => request.onProcess(null));
  return process;
}

function agentEnvironment(request: SessionRequest, parts: AgentParts): ChildEnvironment {
  return childEnvironment({
    from: parts.daemonEnv,
    allow: [...usualVariables, ...parts.allowEnv],
    deny: parts.denyEnv,
    // Baton's own last: an account must not pass itself off as another run.
    add: { ...parts.accountEnv, ...request.env },
  });
}

/**
 * Ends an agent's program and everything it started. Rejects with `agent_survives` when something could not be ended: as
 * long as that may be alive, no second agent may have the ticket.
 */
export async function endAgent(process: LiveProcess, options: StopOptions = {}): Promise<void> {
  const { survivorsLeft } = await process.stop(options);
  if (survivorsLeft === 0) return;
  throw new BatonError('agent_survives', `${survivorsLeft} processes of the agent could not be ended.`, {
    details: { pid: process.pid },
  });
}
