import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect } from 'vitest';
import type {
  Agent,
  AgentEvent,
  AgentEventName,
  AgentSession,
  SessionRequest,
  TurnResult,
} from '../../src/agent/agent.ts';
import type { AgentQuestion, QuestionAnswer } from '../../src/core/command/question.ts';
import type { ToolDescription } from '../../src/core/tool-set.ts';
import { completedItems, usualRequest } from '../agent/scripted-scene.ts';
import { pidsOfDaemon } from '../process/real-children.ts';
import { folderOnDisk } from '../temporary-folder.ts';

/** A session of a real agent, and everything that it did. */
export interface OpenSession {
  readonly session: AgentSession;
  readonly events: readonly AgentEvent[];
  /** The questions to a person. */
  readonly asked: readonly AgentQuestion[];
  /** The called tools. */
  readonly calls: readonly (readonly [string, unknown])[];
  /** Runs a turn that must complete, and returns the last message. */
  complete(prompt: string): Promise<string>;
  /** The items that were reported as completed, oldest first. */
  items(): readonly Readonly<Record<string, unknown>>[];
  names(): readonly AgentEventName[];
}

/** The answer of a person; null: no one answers. */
export type Person = (question: AgentQuestion) => QuestionAnswer | null | Promise<QuestionAnswer | null>;

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

/** Cleans up after each test, the newest thing first. The parts of a scene use it. */
export class CleanUp {
  readonly #steps: (() => unknown)[] = [];

  /** Call it once per suite. */
  constructor() {
    afterEach(async () => {
      const failures: unknown[] = [];
      for (const each of this.#steps.splice(0).reverse()) {
        try {
          await each();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    });
  }

  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** A folder with a workspace in it. An isolated agent sees nothing of the usual folder for temporary files. */
  makeFolder(isIsolated: boolean): { readonly folder: string; readonly workspace: string } {
    const around = isIsolated ? path.join(import.meta.dirname, '../../node_modules/.cache') : folderOnDisk();
    mkdirSync(around, { recursive: true });
    const folder = realpathSync(mkdtempSync(path.join(around, 'baton-real-')));
    this.add(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    const workspace = path.join(folder, 'workspace');
    mkdirSync(workspace);
    return { folder, workspace };
  }

  /** Every process of an agent inherits the marker of its daemon, and each scene has its own: none may be left. */
  expectNoneOf(daemonId: string): void {
    this.add(() => expect(pidsOfDaemon(daemonId)).toEqual([]));
  }

  /** Opens a session that ends with the test. */
  async open(agent: Agent, request: Partial<SessionRequest>, person: Person = () => null): Promise<OpenSession> {
    const events: AgentEvent[] = [];
    const asked: AgentQuestion[] = [];
    const calls: [string, unknown][] = [];
    const session = await agent.startSession(
      usualRequest({
        env: { BATON_ISSUE_IDENTIFIER: 'BAT-1' },
        tools: {
          tools: [commentTool],
          call: async (name, input) => {
            calls.push([name, input]);
            return { success: true, output: 'noted' };
          },
        },
        ask: async (question) => {
          asked.push(question);
          return await person(question);
        },
        onEvent: (event) => events.push(event),
        ...request,
      }),
    );
    this.add(() => session.stop());
    const complete = async (prompt: string): Promise<string> => {
      const result = await session.runTurn(prompt);
      expect(result).toMatchObject({ status: 'completed' });
      return (result as TurnResult & { readonly message?: string }).message ?? '';
    };
    const items = () => completedItems(events);
    return { session, events, asked, calls, complete, items, names: () => events.map(({ name }) => name) };
  }
}
