import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect } from 'vitest';
import { createAcpAgent } from '../../../src/agent/acp/acp-agent.ts';
import { presets } from '../../../src/agent/acp/presets.ts';
import type { AcpOptions } from '../../../src/agent/acp/settings.ts';
import type { AgentEvent, AgentSession, SessionRequest, TurnResult } from '../../../src/agent/agent.ts';
import type { AgentParts } from '../../../src/agent/launch-agent.ts';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { AgentQuestion, QuestionAnswer } from '../../../src/core/command/question.ts';
import { usualOptions } from '../../agent/acp/acp-scene.ts';
import type { FakeModel } from '../../fake/fake-model.ts';
import type { Scenario } from '../../fake/openai/scenario.ts';
import { pidsOfDaemon } from '../../process/real-children.ts';
import { folderOnDisk } from '../../temporary-folder.ts';
import type { AcpProgram } from '../acp-programs.ts';

/** A real program with its own home, a workspace and a model with the answers of the test. */
export interface AcpScene {
  readonly model: FakeModel;
  readonly workspace: string;
  /** Next to the workspace, not in it. */
  readonly folder: string;
  /** Names the daemon in each process of the test. */
  readonly daemonId: string;
  /** Variables with which the program finds its home. */
  readonly env: Readonly<Record<string, string>>;
  /** A session in its own process; successive sessions share the home. */
  open(request?: Partial<SessionRequest>, options?: Partial<AcpOptions>): Promise<OpenSession>;
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
  readonly options?: Partial<AcpOptions>;
  /** The model's address instead of that of the fake. */
  readonly baseUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The answer of a person; by default no one answers. */
  readonly person?: (question: AgentQuestion) => QuestionAnswer | null;
}

/**
 * Call it once per suite. After each test every session is stopped, and the test fails if a process of it is left: each
 * test has its own daemon marker, which every process of the program inherits.
 */
export function useAcpScenes(program: AcpProgram): (choices?: SceneChoices) => Promise<AcpScene> {
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
    const folder = realpathSync(mkdtempSync(path.join(folderOnDisk(), 'baton-real-acp-')));
    clean.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    const workspace = path.join(folder, 'workspace');
    mkdirSync(workspace);
    const model = await program.startModel(choices.scenario);
    clean.push(() => model[Symbol.asyncDispose]());
    const home = path.join(folder, 'home');
    const temporary = path.join(folder, 'temporary');
    for (const each of [home, temporary]) mkdirSync(each);
    const login = program.login(home, choices.baseUrl ?? model.url);
    const env = { HOME: home, TMPDIR: temporary, ...login, ...choices.env };
    const parts: AgentParts = {
      clock: systemClock,
      containment: 'marker_sweep',
      daemonId: systemChance.id(),
      daemonEnv: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env },
      allowEnv: Object.keys(env),
      denyEnv: [],
      accountEnv: {},
    };
    clean.push(() => expect(pidsOfDaemon(parts.daemonId)).toEqual([]));

    const open: AcpScene['open'] = async (request = {}, options = {}) => {
      const events: AgentEvent[] = [];
      const asked: AgentQuestion[] = [];
      const { command, preset } = program;
      const usual = { ...usualOptions, name: preset, preset: presets[preset], command, turnTimeoutMs: 60_000 };
      const agent = createAcpAgent({ ...usual, approvals: 'auto', ...choices.options, ...options }, parts);
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
    return { model, workspace, folder, daemonId: parts.daemonId, env, open };
  };
}

function completedItems(events: readonly AgentEvent[]): Readonly<Record<string, unknown>>[] {
  return events.flatMap(({ payload }) => {
    const { method, params } = (payload ?? {}) as { method?: string; params?: { item?: Record<string, unknown> } };
    return method === 'item/completed' && params?.item !== undefined ? [params.item] : [];
  });
}
