import type { SessionRequest } from '../../agent.ts';
import { type AgentParts, endAgent } from '../../launch-agent.ts';
import { launchInShell } from '../../launch-in-shell.ts';
import { trialRequest } from '../../trial-session.ts';
import { fieldsOf, numberOf, textOf } from '../../wire/fields.ts';
import type { CodexAgentOptions } from '../codex-options.ts';
import { sandboxPolicyFor } from '../session/policies.ts';
import { initializeParams, threadStartParams } from '../session/session-params.ts';
import { CodexConnection, type CodexRefusal } from '../wire/connection.ts';
import type { SandboxPolicy } from '../wire/protocol.ts';

/** Codex, started only for checks. No turn begins, so no model is called; disposing leaves no process. */
export interface CodexProbe extends AsyncDisposable {
  /** As Codex reports it; null when it does not. */
  readonly version: string | null;
  /** The folder where it keeps login and threads; null when Codex does not report it. */
  readonly home: string | null;
  /** Begins an ephemeral thread with the parameters of a session. Rejects with a CodexRefusal. */
  tryThread(changed?: Partial<CodexAgentOptions>): Promise<void>;
  readLogin(): Promise<CodexLogin>;
  /** The sandbox of a turn. */
  readonly sandbox: SandboxPolicy;
  /** Runs a program in that sandbox. Rejects with a CodexRefusal where Codex does not accept the policy. */
  runInSandbox(command: readonly string[]): Promise<SandboxedEnd>;
}

export interface CodexLogin {
  /** False where the model is not OpenAI's, or needs no login. */
  readonly isNeeded: boolean;
  /** `apiKey`, `chatgpt`, …; null when there is no login. */
  readonly kind: string | null;
  /** ChatGPT's name of the plan, such as `plus`. */
  readonly plan: string | null;
}

export interface SandboxedEnd {
  /** Null when Codex reported none. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CodexProbeRequest {
  readonly runId: string;
  readonly workspace: string;
  readonly gitDirectory: string;
  /** Ends the checks at any point. */
  readonly signal: AbortSignal;
}

/** Longer than a commit in an empty repository takes. */
const commandMs = 10_000;

/** Whether this version of Codex does not know the method; then its refusal says nothing about the parameters. */
export function isUnknownHere({ refusal }: CodexRefusal): boolean {
  return refusal.code === -32_601 || /unknown variant `[a-z]+\/[a-z]+`/i.test(textOf(refusal.message) ?? '');
}

/**
 * Starts Codex as a session does and performs the handshake. Rejects when Codex does not start or does not speak the
 * protocol.
 */
export async function startCodexProbe(
  options: CodexAgentOptions,
  parts: AgentParts,
  { runId, workspace, gitDirectory, signal }: CodexProbeRequest,
): Promise<CodexProbe> {
  const request = trialRequest(runId, workspace, { writableRoots: [gitDirectory] });
  const process = await launchInShell(options.command, [], request, parts);
  const connection: CodexConnection = new CodexConnection(process, parts, {
    onSound: () => {},
    onGarbage: () => {},
    onEnd: () => {},
    onFrame: (frame) => {
      // Refuses every request of Codex: the checks need none of them.
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
        // Otherwise Codex writes into its configuration that it trusts this folder, which is soon deleted.
        const config = { ...params.config, projects: { [workspace]: { trust_level: 'untrusted' } } };
        const asked = { ...params, config, ephemeral: true };
        await connection.request('thread/start', asked, readTimeoutMs, signal);
      },
      readLogin: async () => {
        // A refresh would use the network.
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
 * The policy of a turn in the form that `command/exec` accepts. A root that is a `.git` file does not harm a turn, but
 * makes `command/exec` fail (seen with 0.166.0). The git directory that the file names is a separate root.
 */
function execPolicy(policy: SandboxPolicy, { workspace }: SessionRequest): SandboxPolicy {
  if (policy.type !== 'workspaceWrite') return policy;
  return { ...policy, writableRoots: policy.writableRoots.filter((root) => root !== `${workspace}/.git`) };
}
