import { BatonError } from '../../core/baton-error.ts';
import type { Agent, SessionRequest } from '../agent.ts';
import type { AgentParts } from '../launch-agent.ts';
import { launchInShell } from '../launch-in-shell.ts';
import { readonlyCode } from '../shell-text.ts';
import type { CodexAgentOptions } from './codex-options.ts';
import { homeOf, oneFirstStart } from './session/first-start.ts';
import { CodexSession } from './session/session.ts';
import { toolsTokenVariable } from './session/session-params.ts';
import { isThreadInUse, threadInUse } from './session/thread-in-use.ts';
import { CodexRefusal } from './wire/connection.ts';

/**
 * Codex over its app-server protocol: one process a session, one thread, several turns. `protocol.ts` defines the
 * messages that Baton sends. Baton reads messages of Codex tolerantly, older forms included.
 */
export function createCodexAgent(options: CodexAgentOptions, parts: AgentParts): Agent {
  return {
    backend: 'codex',
    startSession: (request) => {
      const chosen = request.isReadOnly ? { ...options, ...readOnly } : options;
      return oneFirstStart(homeOf(parts), () => startSession(chosen, parts, request), request.signal);
    },
  };
}

/**
 * A read-only session, whatever the workflow file says: a sandbox for reading, and no question that would widen it. Only
 * tools are asked for: without that, Codex refuses Baton's own over MCP.
 */
const readOnly = {
  threadSandbox: 'read-only',
  turnSandboxPolicy: null,
  approvalPolicy: { reject: { mcp_elicitations: false } },
} as const;

async function startSession(
  options: CodexAgentOptions,
  parts: AgentParts,
  request: SessionRequest,
): Promise<CodexSession> {
  request.signal?.throwIfAborted();
  const process = await launchInShell(options.command, [], withToolsToken(options, request), parts);
  const session = new CodexSession(process, request, options, parts);
  try {
    await session.begin();
    return session;
  } catch (error) {
    await session.stop();
    throw launchError(error, parts);
  }
}

function withToolsToken(options: CodexAgentOptions, request: SessionRequest): SessionRequest {
  if (options.tools !== 'mcp' || request.toolAddress === null) return request;
  return { ...request, env: { ...request.env, [toolsTokenVariable]: request.toolAddress.token } };
}

/** Wraps any error from before the session was ready: Codex could not be started. */
function launchError(error: unknown, { accountEnv }: AgentParts): unknown {
  if (error instanceof CodexRefusal) {
    if (isThreadInUse(error.refusal)) return threadInUse(error, accountEnv.CODEX_HOME ?? null);
    return new BatonError('agent_launch_failed', error.message, { cause: error, details: { refusal: error.refusal } });
  }
  if (error instanceof BatonError && error.details.exit_code === readonlyCode) {
    const message = `${error.message} A login profile may have made a variable readonly that Baton must set or unset.`;
    return new BatonError('agent_launch_failed', message, { cause: error, details: error.details });
  }
  if (error instanceof BatonError && (error.code === 'agent_exited' || error.code === 'agent_turn_timeout')) {
    return new BatonError('agent_launch_failed', error.message, { cause: error, details: error.details });
  }
  return error;
}
