import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect } from 'vitest';
import type { AgentEvent, AgentSession, SessionRequest, TurnResult } from '../../../src/agent/agent.ts';
import { createClaudeAgent } from '../../../src/agent/claude/claude-agent.ts';
import { claudeBackend } from '../../../src/agent/claude/claude-backend.ts';
import type { ClaudeOptions } from '../../../src/agent/claude/settings.ts';
import type { AgentParts } from '../../../src/agent/launch-agent.ts';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { AgentQuestion, QuestionAnswer } from '../../../src/core/command/question.ts';
import { usualOptions } from '../../agent/claude/claude-scene.ts';
import { claudeHome } from '../../fake/anthropic/claude-home.ts';
import { startFakeAnthropic } from '../../fake/anthropic/fake-anthropic.ts';
import type { FakeModel } from '../../fake/fake-model.ts';
import type { Scenario, ToolCall } from '../../fake/openai/scenario.ts';
import { pidsOfDaemon } from '../../process/real-children.ts';
import { isolatedAs } from '../../security/isolated-as.ts';
import { folderOnDisk } from '../../temporary-folder.ts';
import type { ClaudeBinary } from '../claude-binary.ts';

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

export interface OpenSession {
  readonly session: AgentSession;
  readonly events: readonly AgentEvent[];
  /** The questions to a person. */
  readonly asked: readonly AgentQuestion[];
  /** Runs a turn that must complete, and returns the last message. */
  complete(prompt: string): Promise<string>;
  /** The items that were reported as completed, oldest first. */
  items(): readonly Readonly<Record<string, unknown>>[];
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
  readonly person?: (question: AgentQuestion) => QuestionAnswer | null;
}

/** A shell command. */
export const bash = (command: string): ToolCall => ({ name: 'Bash', arguments: { command } });

/**
 * Call it once per suite. After each test every session is stopped, and the test fails if a process of it is left: each
 * test has its own daemon marker, which every process of Claude Code inherits.
 */
export function useClaudeScenes(claude: ClaudeBinary): (choices?: SceneChoices) => Promise<ClaudeScene> {
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
    // Isolated, the usual folder is empty.
    const around = isIsolated ? path.join(import.meta.dirname, '../../../node_modules/.cache') : folderOnDisk();
    mkdirSync(around, { recursive: true });
    const folder = realpathSync(mkdtempSync(path.join(around, 'baton-real-claude-')));
    clean.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    const workspace = path.join(folder, 'workspace');
    mkdirSync(workspace);
    const model = await startFakeAnthropic(choices.scenario);
    clean.push(() => model[Symbol.asyncDispose]());
    const { env } = claudeHome(folder, choices.baseUrl ?? model.url);
    const known = {
      clock: systemClock,
      daemonId: systemChance.id(),
      daemonEnv: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env, ...choices.env },
    };
    const parts: AgentParts = {
      ...known,
      containment: isIsolated ? 'user_pid_namespace' : 'marker_sweep',
      ...(isIsolated ? { isolate: await isolatedAs(claudeBackend, folder, known) } : {}),
      allowEnv: ['CLAUDE_*', 'ANTHROPIC_*'],
      denyEnv: [],
      accountEnv: {},
    };
    clean.push(() => expect(pidsOfDaemon(parts.daemonId)).toEqual([]));

    const open: ClaudeScene['open'] = async (request = {}, options = {}) => {
      const events: AgentEvent[] = [];
      const asked: AgentQuestion[] = [];
      const usual = { ...usualOptions, command: `'${claude.path}'`, model: 'claude-opus-5-5', turnTimeoutMs: 25_000 };
      const agent = createClaudeAgent({ ...usual, ...choices.options, ...options }, parts);
      const session = await agent.startSession({
        runId: systemChance.id(),
        workspace,
        threadId: null,
        writableRoots: [],
        title: 'BAT-1: Mend the door',
        env: { BATON_ISSUE_IDENTIFIER: 'BAT-1' },
        recovery: null,
        tools: { tools: [], call: async () => ({ success: true, output: '' }) },
        toolAddress: null,
        ask: async (question) => {
          asked.push(question);
          return choices.person?.(question) ?? null;
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
      return { session, events, asked, complete, items: () => completedItems(events) };
    };
    return { model, workspace, folder, daemonId: parts.daemonId, open };
  };
}

function completedItems(events: readonly AgentEvent[]): Readonly<Record<string, unknown>>[] {
  return events.flatMap(({ payload }) => {
    const { method, params } = (payload ?? {}) as { method?: string; params?: { item?: Record<string, unknown> } };
    return method === 'item/completed' && params?.item !== undefined ? [params.item] : [];
  });
}
