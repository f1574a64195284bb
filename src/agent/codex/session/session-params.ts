import type { SessionRequest } from '../../agent.ts';
import type { Fields } from '../../wire/fields.ts';
import type { CodexAgentOptions } from '../codex-options.ts';
import { ownServer } from '../requests/request-handler.ts';
import type {
  InitializeParams,
  JsonValue,
  SandboxMode,
  ThreadResumeParams,
  ThreadStartParams,
  TurnStartParams,
  UserInput,
} from '../wire/protocol.ts';
import { approvalPolicyFor, sandboxPolicyFor } from './policies.ts';

/** The variable in which Codex finds the token for Baton's tools over MCP. */
export const toolsTokenVariable = 'BATON_TOOLS_TOKEN';

const longestToolSec = 7 * 24 * 3_600;

/** Experimental: otherwise Codex accepts no dynamic tools and does not clean up commands that are still running. */
export function initializeParams(options: CodexAgentOptions): InitializeParams {
  return {
    clientInfo: { name: 'baton', title: 'Baton', version: options.version },
    capabilities: { experimentalApi: true, requestAttestation: false },
  };
}

export function threadStartParams(
  options: CodexAgentOptions,
  request: SessionRequest,
  hidesSecrets: boolean,
): ThreadStartParams {
  const dynamicTools = request.tools.tools.map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    name,
    description,
    // A JSON Schema is JSON.
    inputSchema: inputSchema as JsonValue,
  }));
  return { ...threadParams(options, request, hidesSecrets), ...(options.tools === 'dynamic' ? { dynamicTools } : {}) };
}

/** Dynamic tools belong to a thread from its start; a resumed thread still has them and accepts no others. */
export function threadResumeParams(
  options: CodexAgentOptions,
  request: SessionRequest,
  threadId: string,
  hidesSecrets: boolean,
): ThreadResumeParams {
  // The turns so far may be larger than the longest line that Baton reads.
  return { threadId, ...threadParams(options, request, hidesSecrets), excludeTurns: true };
}

export function turnStartParams(
  options: CodexAgentOptions,
  request: SessionRequest,
  threadId: string,
  prompt: string,
): TurnStartParams {
  return {
    threadId,
    input: textInput(prompt),
    cwd: request.workspace,
    approvalPolicy: approvalPolicyFor(options.approvalPolicy),
    sandboxPolicy: sandboxPolicyFor(options.turnSandboxPolicy, options.threadSandbox, request),
  };
}

export function textInput(text: string): UserInput[] {
  return [{ type: 'text', text, text_elements: [] }];
}

function threadParams(
  options: CodexAgentOptions,
  request: SessionRequest,
  hidesSecrets: boolean,
): Pick<ThreadStartParams, 'cwd' | 'approvalPolicy' | 'sandbox' | 'config' | 'model'> {
  const { recovery, toolAddress } = request;
  const config: Record<string, JsonValue> = {
    // A goal lets Codex begin turns by itself, which Baton does not count and no turn limit ends.
    'features.goals': false,
    // Codex would trust the folder from now on, and with it the programs that a repository names in its own settings.
    projects: { [request.workspace]: { trust_level: 'untrusted' } },
  };
  // Commands of Codex would read the login profile again, and with it the secrets that Baton unset.
  if (hidesSecrets) config.allow_login_shell = false;
  if (recovery?.budgetTokens !== undefined) config.model_auto_compact_token_limit = recovery.budgetTokens;
  if (options.tools === 'mcp' && toolAddress !== null) {
    // Baton limits each call itself; a call that waits for a person takes as long as that person may take.
    const server = {
      url: toolAddress.url,
      bearer_token_env_var: toolsTokenVariable,
      tool_timeout_sec: longestToolSec,
      required: true,
    };
    config.mcp_servers = { [ownServer]: server };
  }
  return {
    cwd: request.workspace,
    approvalPolicy: approvalPolicyFor(options.approvalPolicy),
    // Codex validates the value.
    sandbox: options.threadSandbox as SandboxMode,
    config,
    ...(recovery?.model !== undefined ? { model: recovery.model } : {}),
  };
}

/** The id of a thread, or of a turn, in an answer. */
export function idIn(answer: Fields, name: 'thread' | 'turn'): string | null {
  const named = answer[name];
  const id = typeof named === 'object' && named !== null && 'id' in named ? named.id : null;
  return typeof id === 'string' && id !== '' ? id : null;
}
