import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect } from 'vitest';
import type { AgentEvent, AgentEventName, AgentSession, SessionRequest, TurnResult } from '../../../src/agent/agent.ts';
import { createCodexAgent } from '../../../src/agent/codex/codex-agent.ts';
import { codexBackend } from '../../../src/agent/codex/codex-backend.ts';
import type { CodexAgentOptions } from '../../../src/agent/codex/codex-options.ts';
import type { AgentParts } from '../../../src/agent/launch-agent.ts';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { AgentQuestion, QuestionAnswer } from '../../../src/core/command/question.ts';
import type { ToolAnswer, ToolDescription } from '../../../src/core/tool-set.ts';
import type { Containment } from '../../../src/process/containment/containment.ts';
import { daemonMarker } from '../../../src/process/containment/process-table.ts';
import { type CodexHomeChoices, codexHome } from '../../fake/openai/codex-home.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../../fake/openai/fake-openai.ts';
import type { Scenario } from '../../fake/openai/scenario.ts';
import { pidsOfDaemon } from '../../process/real-children.ts';
import { isolatedAs } from '../../security/isolated-as.ts';
import { folderOnDisk } from '../../temporary-folder.ts';
import type { CodexBinary } from '../codex-binary.ts';

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

export interface OpenSession {
  readonly session: AgentSession;
  readonly events: readonly AgentEvent[];
  /** The questions to a person. */
  readonly asked: readonly AgentQuestion[];
  /** The called tools. */
  readonly calls: readonly (readonly [string, unknown])[];
  /** Runs a turn that must complete, and returns the last message. */
  complete(prompt: string): Promise<string>;
  names(): readonly AgentEventName[];
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
  readonly person?: (question: AgentQuestion) => QuestionAnswer | null | Promise<QuestionAnswer | null>;
}

export const commentTool: ToolDescription = {
  name: 'comment',
  description: 'Writes a comment on the issue.',
  inputSchema: {
    type: 'object',
    properties: { body: { type: 'string' } },
    required: ['body'],
    additionalProperties: false,
  },
};

/**
 * Call it once per suite. After each test every session is stopped, and the test fails if a process of it is
 * left: each test has its own daemon marker, which every process of Codex inherits.
 */
export function useCodexScenes(codex: CodexBinary): (choices?: SceneChoices) => Promise<CodexScene> {
  const clean: (() => unknown)[] = [];
  afterEach(async () => {
    const failures: unknown[] = [];
    for (const each of clean.splice(0).reverse()) {
      try {
        await each();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  });

  return async (choices = {}) => {
    const { isIsolated = process.env.BATON_TEST_ISOLATED !== undefined } = choices;
    // Isolated, the folder for temporary files is /tmp, below which Codex keeps no helper programs.
    const around = isIsolated ? path.join(import.meta.dirname, '../../../node_modules/.cache') : folderOnDisk();
    mkdirSync(around, { recursive: true });
    const folder = realpathSync(mkdtempSync(path.join(around, 'baton-real-codex-')));
    clean.push(() => rmSync(folder, { recursive: true, force: true }));
    const workspace = path.join(folder, 'workspace');
    mkdirSync(workspace);
    const model = await startFakeOpenAi(choices.scenario);
    clean.push(() => model[Symbol.asyncDispose]());
    const { env } = codexHome(folder, choices.baseUrl ?? model.url, choices.home);
    const known = {
      clock: systemClock,
      daemonId: systemChance.id(),
      daemonEnv: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env },
    };
    const parts: AgentParts = {
      ...known,
      containment: isIsolated ? 'user_pid_namespace' : (choices.containment ?? 'marker_sweep'),
      allowEnv: ['CODEX_*'],
      denyEnv: choices.denyEnv ?? [],
      accountEnv: {},
      ...(isIsolated ? { isolate: await isolatedAs(codexBackend, folder, known) } : {}),
    };
    clean.push(() => expect(pidsOfDaemon(parts.daemonId)).toEqual([]));

    const open: CodexScene['open'] = async (request = {}, options = {}) => {
      const events: AgentEvent[] = [];
      const asked: AgentQuestion[] = [];
      const calls: [string, unknown][] = [];
      const agent = createCodexAgent({ ...usualOptions(codex), ...choices.options, ...options }, parts);
      const session = await agent.startSession({
        runId: systemChance.id(),
        workspace,
        threadId: null,
        writableRoots: [],
        title: 'BAT-1: Mend the door',
        env: { BATON_ISSUE_IDENTIFIER: 'BAT-1' },
        recovery: null,
        tools: {
          tools: [commentTool],
          call: async (name, input): Promise<ToolAnswer> => {
            calls.push([name, input]);
            return { success: true, output: 'noted' };
          },
        },
        toolAddress: null,
        ask: async (question) => {
          asked.push(question);
          return (await choices.person?.(question)) ?? null;
        },
        onProcess: () => {},
        isStillOurs: () => true,
        onEvent: (event) => events.push(event),
        ...request,
      });
      clean.push(() => session.stop());
      const complete = async (prompt: string): Promise<string> => {
        const result = await session.runTurn(prompt);
        expect(result).toMatchObject({ status: 'completed' });
        return (result as TurnResult & { readonly message?: string }).message ?? '';
      };
      return { session, events, asked, calls, complete, names: () => events.map(({ name }) => name) };
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
