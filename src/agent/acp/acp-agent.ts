import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import type { Agent, SessionRequest } from '../agent.ts';
import type { AgentParts } from '../launch-agent.ts';
import { launchInShell } from '../launch-in-shell.ts';
import { readonlyCode } from '../shell-text.ts';
import { AcpSession } from './session/session.ts';
import type { AcpOptions } from './settings.ts';

/** Any agent of the Agent Client Protocol: one process a session, one conversation, several turns. */
export function createAcpAgent(options: AcpOptions, parts: AgentParts): Agent {
  return { backend: 'acp', startSession: (request) => startSession(options, parts, request) };
}

async function startSession(options: AcpOptions, parts: AgentParts, request: SessionRequest): Promise<AcpSession> {
  request.signal?.throwIfAborted();
  await makeFolders(options, parts);
  const { preset } = options;
  const env = { ...preset?.env, ...(request.isReadOnly ? preset?.readOnly.env : {}), ...request.env };
  // Only a daemon with such an agent loads the package of the protocol.
  const sdk = await import('@agentclientprotocol/sdk');
  const process = await launchInShell(options.command, [], { ...request, env }, parts);
  const session = new AcpSession(sdk, process, request, options, parts);
  try {
    await session.begin();
    return session;
  } catch (error) {
    const shown = launchError(error);
    session.events.open('startup_failed', shown instanceof Error ? shown.message : String(shown));
    await session.stop();
    throw shown;
  }
}

/**
 * Conversations are kept in these folders. The isolation shows only a folder that exists: one that the program makes
 * itself would be gone with the process.
 */
async function makeFolders({ preset }: AcpOptions, { daemonEnv }: AgentParts): Promise<void> {
  const home = daemonEnv.HOME ?? '';
  if (!path.isAbsolute(home)) return;
  const folders = (preset?.paths ?? []).filter((each) => each.startsWith('~/') && !each.endsWith('.json'));
  // The program says what is wrong with a folder that cannot be made.
  for (const each of folders)
    await mkdir(path.join(home, each.slice(2)), { recursive: true, mode: 0o700 }).catch(() => {});
}

/** Wraps any error from before the session was ready: the agent could not be started. */
function launchError(error: unknown): unknown {
  if (!(error instanceof BatonError) || !['agent_exited', 'agent_turn_timeout'].includes(error.code)) return error;
  const isReadonly = error.details.exit_code === readonlyCode;
  const why = isReadonly ? ' A login profile may have made a variable readonly that Baton must set or unset.' : '';
  return new BatonError('agent_launch_failed', error.message + why, { cause: error, details: error.details });
}
