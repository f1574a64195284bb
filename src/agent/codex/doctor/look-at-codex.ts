import { BatonError } from '../../../core/baton-error.ts';
import type { SessionRequest } from '../../agent.ts';
import { type AgentParts, endAgent } from '../../launch-agent.ts';
import type { CodexAgentOptions } from '../codex-options.ts';
import { launchCodex } from '../session/launch-codex.ts';
import { sandboxPolicyFor } from '../session/policies.ts';
import { initializeParams, threadStartParams } from '../session/session-params.ts';
import { CodexConnection, type CodexRefusal } from '../wire/connection.ts';
import { fieldsOf, numberOf, textOf } from '../wire/fields.ts';
import type { SandboxPolicy } from '../wire/protocol.ts';

/** Codex, started only to be looked at. No turn begins, so no model is asked; disposing leaves no process. */
export interface CodexLook extends AsyncDisposable {
  /** As Codex tells it; null when it does not. */
  readonly version: string | null;
  /** The folder where it keeps login and threads; null when it does not tell. */
  readonly home: string | null;
  /** Begins a thread as a session would, one that is not kept. Rejects with a CodexRefusal. */
  tryThread(changed?: Partial<CodexAgentOptions>): Promise<void>;
  readLogin(): Promise<CodexLogin>;
  /** The sandbox of a turn. */
  readonly sandbox: SandboxPolicy;
  /** Runs a program in that sandbox. Rejects with a CodexRefusal where Codex does not take the policy. */
  runInSandbox(command: readonly string[]): Promise<SandboxedEnd>;
}

export interface CodexLogin {
  /** False where the model is not OpenAI's, or needs no login. */
  readonly isNeeded: boolean;
  /** `apiKey`, `chatgpt`, …; null when nobody is logged in. */
  readonly kind: string | null;
  /** What ChatGPT calls it, such as `plus`. */
  readonly plan: string | null;
}

export interface SandboxedEnd {
  /** Null when Codex told none. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface LookRequest {
  readonly runId: string;
  readonly workspace: string;
  readonly gitDirectory: string;
  /** Ends the look, however far it is. */
  readonly signal: AbortSignal;
}

/** A commit in an empty repository takes no longer. */
const commandMs = 10_000;

/** Whether Codex, being another version, does not know what it was asked; what it answers then is not about the answer. */
export function isUnknownHere({ refusal }: CodexRefusal): boolean {
  return refusal.code === -32_601 || /unknown variant `[a-z]+\/[a-z]+`/i.test(textOf(refusal.message) ?? '');
}

/** Starts Codex as a session does and shakes hands. Rejects when it does not start, or does not speak the protocol. */
export async function lookAtCodex(
  options: CodexAgentOptions,
  parts: AgentParts,
  { runId, workspace, gitDirectory, signal }: LookRequest,
): Promise<CodexLook> {
  const request = emptyRequest(runId, workspace, gitDirectory);
  const process = await launchCodex(options.command, request, parts);
  const connection: CodexConnection = new CodexConnection(process, parts, {
    onSound: () => {},
    onGarbage: () => {},
    onEnd: () => {},
    onFrame: (frame) => {
      // Whatever it wants to know of its client: it has to go without.
      if (frame.kind === 'request') connection.answer(frame.id, { error: { code: -32_601, message: 'not here' } });
    },
  });
  const end = async (): Promise<void> => {
    await endAgent(process);
    await connection.reading;
  };
  const { readTimeoutMs } = options;
  const hidesSecrets = parts.denyEnv.length > 0;
  const sandbox = execPolicy(sandboxPolicyFor(options.turnSandboxPolicy, options.threadSandbox, request), request);
  try {
    const answer = await connection.request('initialize', initializeParams(options), readTimeoutMs, signal);
    connection.notifyInitialized();
    return {
      version: /^[^/]*\/(\S+)/.exec(textOf(answer.userAgent) ?? '')?.[1] ?? null,
      home: textOf(answer.codexHome),
      sandbox,
      tryThread: async (changed = {}) => {
        const params = threadStartParams({ ...options, ...changed }, request, hidesSecrets);
        // Otherwise Codex writes into its configuration that this folder, which is soon gone, is to be trusted.
        const config = { ...params.config, projects: { [workspace]: { trust_level: 'untrusted' } } };
        const asked = { ...params, config, ephemeral: true };
        await connection.request('thread/start', asked, readTimeoutMs, signal);
      },
      readLogin: async () => {
        // Not refreshed: that would go to the network.
        const login = await connection.request('account/read', { refreshToken: false }, readTimeoutMs, signal);
        const account = fieldsOf(login.account);
        return {
          isNeeded: login.requiresOpenaiAuth !== false,
          kind: textOf(account.type),
          plan: textOf(account.planType),
        };
      },
      runInSandbox: async (command) => {
        const params = { command: [...command], cwd: workspace, sandboxPolicy: sandbox, timeoutMs: commandMs };
        const ended = await connection.request('command/exec', params, 2 * commandMs, signal);
        const { exitCode, stdout, stderr } = ended;
        return { exitCode: numberOf(exitCode), stdout: textOf(stdout) ?? '', stderr: textOf(stderr) ?? '' };
      },
      [Symbol.asyncDispose]: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/**
 * The policy of a turn as `command/exec` takes it. A `.git` that is a file among the roots does a turn no harm, but
 * `command/exec` fails of it (seen with 0.166.0). The git directory that the file names is a root of its own.
 */
function execPolicy(policy: SandboxPolicy, { workspace }: SessionRequest): SandboxPolicy {
  if (policy.type !== 'workspaceWrite') return policy;
  return { ...policy, writableRoots: policy.writableRoots.filter((root) => root !== `${workspace}/.git`) };
}

/** A session that will have no turn. */
function emptyRequest(runId: string, workspace: string, gitDirectory: string): SessionRequest {
  return {
    runId,
    workspace,
    threadId: null,
    writableRoots: [gitDirectory],
    title: '',
    env: {},
    recovery: null,
    toolAddress: null,
    ask: async () => null,
    onProcess: () => {},
    isStillOurs: () => true,
    onEvent: () => {},
    tools: {
      tools: [],
      call: async () => {
        throw new BatonError('unsupported_tool_call', 'There are no tools in a look.');
      },
    },
  };
}
