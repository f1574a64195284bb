import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { SessionRequest } from '../../../src/agent/agent.ts';
import { createCodexAgent } from '../../../src/agent/codex/codex-agent.ts';
import { codexBackend } from '../../../src/agent/codex/codex-backend.ts';
import type { CodexAgentOptions } from '../../../src/agent/codex/codex-options.ts';
import type { AgentParts } from '../../../src/agent/launch-agent.ts';
import type { Containment } from '../../../src/process/containment/containment.ts';
import { daemonMarker } from '../../../src/process/containment/process-table.ts';
import { usualParts } from '../../agent/scripted-scene.ts';
import { type CodexHomeChoices, codexHome } from '../../fake/openai/codex-home.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../../fake/openai/fake-openai.ts';
import type { Scenario } from '../../fake/openai/scenario.ts';
import { isolatedAs } from '../../security/isolated-as.ts';
import type { CodexBinary } from '../codex-binary.ts';
import { CleanUp, type OpenSession, type Person } from '../real-scene.ts';

/** A real Codex with its own home, a workspace and a model with the answers of the test. */
export interface CodexScene {
  readonly model: FakeOpenAi;
  readonly workspace: string;
  /** Next to the workspace, not in it. */
  readonly folder: string;
  /** For a program next to Baton: it uses the same home, and its leftover processes fail the test too. */
  readonly env: Readonly<Record<string, string>>;
  /** A session in its own process; successive sessions share the home. */
  open(request?: Partial<SessionRequest>, options?: Partial<CodexAgentOptions>): Promise<OpenSession>;
}

export interface SceneChoices {
  readonly scenario?: Scenario;
  readonly home?: CodexHomeChoices;
  readonly options?: Partial<CodexAgentOptions>;
  readonly containment?: Containment;
  /** Codex sees what an isolated agent sees, in its containment. With BATON_TEST_ISOLATED every scene is so. */
  readonly isIsolated?: boolean;
  /** Names of variables that hold tracker secrets. */
  readonly denyEnv?: readonly string[];
  /** The model's address instead of that of the fake. */
  readonly baseUrl?: string;
  /** The answer of a person; by default no one answers. */
  readonly person?: Person;
}

/** Call it once per suite. */
export function useCodexScenes(codex: CodexBinary): (choices?: SceneChoices) => Promise<CodexScene> {
  const clean = new CleanUp();
  return async (choices = {}) => {
    const { isIsolated = process.env.BATON_TEST_ISOLATED !== undefined } = choices;
    const { folder, workspace } = clean.makeFolder(isIsolated);
    const model = await startFakeOpenAi(choices.scenario);
    clean.add(() => model[Symbol.asyncDispose]());
    const { env } = codexHome(folder, choices.baseUrl ?? model.url, choices.home);
    const plain = usualParts({
      daemonEnv: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env },
      containment: choices.containment ?? 'marker_sweep',
      allowEnv: ['CODEX_*'],
      denyEnv: choices.denyEnv ?? [],
    });
    const parts: AgentParts = isIsolated
      ? { ...plain, containment: 'user_pid_namespace', isolate: await isolatedAs(codexBackend, folder, plain) }
      : plain;
    clean.expectNoneOf(parts.daemonId);

    const open: CodexScene['open'] = async (request = {}, options = {}) => {
      const agent = createCodexAgent({ ...usualOptions(codex), ...choices.options, ...options }, parts);
      return clean.open(agent, { workspace, ...request }, choices.person);
    };
    return { model, workspace, folder, env: { ...env, [daemonMarker]: parts.daemonId }, open };
  };
}

export function readWorkspace(scene: CodexScene, file: string): string {
  return readFileSync(path.join(scene.workspace, file), 'utf8');
}

function usualOptions(codex: CodexBinary): CodexAgentOptions {
  return {
    command: `'${codex.path}' app-server`,
    approvalPolicy: 'never',
    threadSandbox: 'danger-full-access',
    turnSandboxPolicy: { type: 'dangerFullAccess' },
    approvals: 'ask',
    tools: 'none',
    readTimeoutMs: 20_000,
    turnTimeoutMs: 25_000,
    version: '0.0.0',
  };
}
