import type { SessionRequest } from '../../../src/agent/agent.ts';
import { createClaudeAgent } from '../../../src/agent/claude/claude-agent.ts';
import { claudeBackend } from '../../../src/agent/claude/claude-backend.ts';
import type { ClaudeOptions } from '../../../src/agent/claude/settings.ts';
import type { AgentParts } from '../../../src/agent/launch-agent.ts';
import { usualOptions } from '../../agent/claude/claude-scene.ts';
import { usualParts } from '../../agent/scripted-scene.ts';
import { claudeHome } from '../../fake/anthropic/claude-home.ts';
import { startFakeAnthropic } from '../../fake/anthropic/fake-anthropic.ts';
import type { FakeModel } from '../../fake/fake-model.ts';
import type { Scenario, ToolCall } from '../../fake/openai/scenario.ts';
import { isolatedAs } from '../../security/isolated-as.ts';
import type { ClaudeBinary } from '../claude-binary.ts';
import { CleanUp, type OpenSession, type Person } from '../real-scene.ts';

/** A real Claude Code with its own home, a workspace and a model with the answers of the test. */
export interface ClaudeScene {
  readonly model: FakeModel;
  readonly workspace: string;
  /** Next to the workspace, not in it. */
  readonly folder: string;
  /** Names the daemon in each process of the test. */
  readonly daemonId: string;
  /** A session in its own process; successive sessions share the home. */
  open(request?: Partial<SessionRequest>, options?: Partial<ClaudeOptions>): Promise<OpenSession>;
}

export interface SceneChoices {
  readonly scenario?: Scenario;
  readonly options?: Partial<ClaudeOptions>;
  /** The model's address instead of that of the fake. */
  readonly baseUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Claude Code sees what an isolated agent sees, in its containment. With BATON_TEST_ISOLATED every scene is so. */
  readonly isIsolated?: boolean;
  /** The answer of a person; by default no one answers. */
  readonly person?: Person;
}

/** A shell command. */
export const bash = (command: string): ToolCall => ({ name: 'Bash', arguments: { command } });

/** Call it once per suite. */
export function useClaudeScenes(claude: ClaudeBinary): (choices?: SceneChoices) => Promise<ClaudeScene> {
  const clean = new CleanUp();
  return async (choices = {}) => {
    const { isIsolated = process.env.BATON_TEST_ISOLATED !== undefined } = choices;
    const { folder, workspace } = clean.makeFolder(isIsolated);
    const model = await startFakeAnthropic(choices.scenario);
    clean.add(() => model[Symbol.asyncDispose]());
    const { env } = claudeHome(folder, choices.baseUrl ?? model.url);
    const daemonEnv = { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env, ...choices.env };
    const plain = usualParts({ daemonEnv, allowEnv: ['CLAUDE_*', 'ANTHROPIC_*'] });
    const parts: AgentParts = isIsolated
      ? { ...plain, containment: 'user_pid_namespace', isolate: await isolatedAs(claudeBackend, folder, plain) }
      : plain;
    clean.expectNoneOf(parts.daemonId);

    const open: ClaudeScene['open'] = async (request = {}, options = {}) => {
      const usual = { ...usualOptions, command: `'${claude.path}'`, model: 'claude-opus-5-5', turnTimeoutMs: 25_000 };
      const agent = createClaudeAgent({ ...usual, ...choices.options, ...options }, parts);
      return clean.open(agent, { workspace, ...request }, choices.person);
    };
    return { model, workspace, folder, daemonId: parts.daemonId, open };
  };
}
