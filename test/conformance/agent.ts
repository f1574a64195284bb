import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Agent, AgentEvent, AgentProcess, AgentSession, SessionRequest } from '../../src/agent/agent.ts';
import type { AgentParts } from '../../src/agent/launch-agent.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { ToolAnswer } from '../../src/core/tool-door.ts';
import { listMarkedProcesses } from '../../src/process/marked-processes.ts';

/** What a backend brings so that the suite can run on it: how to make it, and prompts that make its agent do things. */
export interface AgentHarness {
  readonly name: string;
  create(parts: AgentParts, options: { turnTimeoutMs: number }): Agent;
  readonly prompts: {
    /** Writes `done.txt` with the text `made` into the workspace and ends well. */
    readonly makeFile: string;
    /** Ends badly. */
    readonly fail: string;
    /** Says something, then nothing any more, without ending. */
    readonly fallSilent: string;
    /** Starts a process that leaves the session and lives on, then ends well. */
    readonly leaveOrphan: string;
    /** The program itself dies in the middle of the turn. */
    readonly die: string;
    /** Prints 2 MB in one line, then ends well. */
    readonly longLine: string;
    /** Writes its environment into `env.txt`. */
    readonly showEnvironment: string;
    /** Asks a person; null where the backend cannot. */
    readonly ask: string | null;
    /** Calls the tool `comment` with the body `hello`, then ends well; null where the backend has no tools. */
    readonly useTool: string | null;
  };
}

/** The suite of the seam `Agent`, with real processes. Every backend runs it unchanged. */
export function agentConformance(harness: AgentHarness): void {
  describe(`the ${harness.name} agent keeps the agent seam`, () => {
    const { prompts } = harness;
    const clean: (() => Promise<void> | void)[] = [];
    afterEach(async () => {
      for (const each of clean.splice(0).reverse()) await each();
    });

    const open = async (options: { turnTimeoutMs?: number; env?: Record<string, string>; denyEnv?: string[] } = {}) => {
      const workspace = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-agent-')));
      clean.push(() => rmSync(workspace, { recursive: true, force: true }));
      const parts: AgentParts = {
        clock: systemClock,
        custody: 'marker_sweep',
        daemonId: systemChance.id(),
        daemonEnv: { ...process.env, ...options.env },
        allowEnv: ['ALLOWED'],
        denyEnv: options.denyEnv ?? [],
      };
      const events: AgentEvent[] = [];
      const processes: (AgentProcess | null)[] = [];
      const calls: [string, unknown][] = [];
      const runId = systemChance.id();
      const request: SessionRequest = {
        runId,
        workspace,
        threadId: null,
        env: { BATON_ISSUE_IDENTIFIER: 'T-1' },
        tools: {
          tools: [],
          call: async (name, input): Promise<ToolAnswer> => {
            calls.push([name, input]);
            return { success: true, output: 'noted' };
          },
        },
        onProcess: (each) => void processes.push(each),
        onEvent: (event) => events.push(event),
      };
      const agent = harness.create(parts, { turnTimeoutMs: options.turnTimeoutMs ?? 60_000 });
      const session: AgentSession = await agent.startSession(request);
      clean.push(() => session.stop());
      const left = async () =>
        (await listMarkedProcesses({ clock: systemClock })).filter((each) => each.runId === runId);
      return { agent, session, events, processes, calls, workspace, request, left };
    };

    it('works in the workspace and tells it as events that begin with session_started', async () => {
      const { session, events, processes, workspace } = await open();
      expect(await session.runTurn(prompts.makeFile)).toEqual({ status: 'completed' });
      expect((await readFile(path.join(workspace, 'done.txt'), 'utf8')).trim()).toBe('made');
      const names = events.map(({ name }) => name);
      expect(names[0]).toBe('session_started');
      expect(names).toContain('turn_started');
      expect(names.at(-1)).toBe('turn_completed');
      expect(processes.length).toBeGreaterThanOrEqual(1);
      expect(processes[0]?.startTime).not.toBeNull();
    });

    it('tells of its process when it is there and when it has ended, never the end alone', async () => {
      const { session, processes, left } = await open();
      await session.runTurn(prompts.die);
      await session.stop();
      expect(await left()).toEqual([]);
      expect(processes).toEqual([{ pid: expect.any(Number), startTime: expect.any(Number) }, null]);
    });

    it('tells the end of its process before a stop in the middle of a turn has resolved', async () => {
      const { session, events, processes } = await open();
      const turn = session.runTurn(prompts.fallSilent);
      await expect.poll(() => events.some(({ name }) => name === 'notification'), { timeout: 20_000 }).toBe(true);
      expect(processes).toEqual([{ pid: session.pid, startTime: expect.any(Number) }]);
      await session.stop();
      expect(processes.slice(1)).toEqual([null]);
      await turn;
    });

    it('calls a failed turn failed', async () => {
      const { session, events } = await open();
      expect(await session.runTurn(prompts.fail)).toMatchObject({ status: 'failed', error: { retryable: true } });
      expect(events.at(-1)?.name).toBe('turn_failed');
    });

    it('calls a turn failed when the program dies in the middle of it', async () => {
      const { session, left } = await open();
      expect(await session.runTurn(prompts.die)).toMatchObject({ status: 'failed', error: { code: 'agent_exited' } });
      await session.stop();
      expect(await left()).toEqual([]);
    });

    it('calls a turn failed when nothing is heard for the turn timeout', async () => {
      const { session, left } = await open({ turnTimeoutMs: 1_500 });
      expect(await session.runTurn(prompts.fallSilent)).toMatchObject({
        status: 'failed',
        error: { code: 'agent_turn_timeout' },
      });
      await session.stop();
      expect(await left()).toEqual([]);
    });

    it('gives up a turn when it is told to, and after the stop nothing is left', async () => {
      const { session, events, left } = await open();
      const giveUp = new AbortController();
      const turn = session.runTurn(prompts.fallSilent, giveUp.signal);
      await expect.poll(() => events.some(({ name }) => name === 'notification'), { timeout: 20_000 }).toBe(true);
      giveUp.abort();
      expect(await turn).toEqual({ status: 'cancelled' });
      await session.stop();
      expect(await left()).toEqual([]);
    });

    it('ends a turn in progress when the session is stopped, and tells nothing afterwards', async () => {
      const { session, events, left } = await open();
      const turn = session.runTurn(prompts.fallSilent);
      await expect.poll(() => events.some(({ name }) => name === 'notification'), { timeout: 20_000 }).toBe(true);
      await session.stop();
      const told = events.length;
      expect(await turn).toEqual({ status: 'cancelled' });
      expect(await left()).toEqual([]);
      await session.stop();
      expect(events.length).toBe(told);
      expect(await session.runTurn(prompts.makeFile)).toEqual({ status: 'cancelled' });
    });

    it('leaves no process behind, not even one that left its session', async () => {
      const { session, left } = await open();
      expect(await session.runTurn(prompts.leaveOrphan)).toEqual({ status: 'completed' });
      await session.stop();
      expect(await left()).toEqual([]);
    });

    it('takes a line of two megabytes and shows only a short, harmless part of it', async () => {
      const { session, events } = await open();
      expect(await session.runTurn(prompts.longLine)).toEqual({ status: 'completed' });
      expect(Math.max(...events.map(({ summary }) => summary.length))).toBeLessThanOrEqual(200);
    });

    it('hands on only what is allowed of the environment, and never a tracker secret', async () => {
      const { session, workspace } = await open({
        env: { ALLOWED: 'yes', SOMETHING_ELSE: 'no', TRACKER_KEY: 'canary' },
        denyEnv: ['TRACKER_KEY', 'ALLOWED_TOO'],
      });
      await session.runTurn(prompts.showEnvironment);
      const env = await readFile(path.join(workspace, 'env.txt'), 'utf8');
      expect(env).toContain('ALLOWED=yes');
      expect(env).toContain('BATON_ISSUE_IDENTIFIER=T-1');
      expect(env).toMatch(/^BATON_RUN_ID=/m);
      expect(env).not.toContain('SOMETHING_ELSE');
      expect(env).not.toContain('canary');
    });

    it('tells a question as input_required', async ({ skip }) => {
      if (prompts.ask === null) return skip('this backend has no way to ask');
      const { session, events } = await open();
      expect(await session.runTurn(prompts.ask)).toMatchObject({
        status: 'input_required',
        question: expect.any(String),
      });
      expect(events.at(-1)?.name).toBe('turn_input_required');
    });

    it('carries a tool call to the door and its answer back', async ({ skip }) => {
      if (prompts.useTool === null) return skip('this backend has no tools');
      const { session, calls, events } = await open();
      expect(await session.runTurn(prompts.useTool)).toEqual({ status: 'completed' });
      expect(calls).toEqual([['comment', { body: 'hello' }]]);
      expect(events.map(({ name }) => name)).toContain('tool_called');
    });

    it('runs a second turn in the same session', async () => {
      const { session } = await open();
      expect(await session.runTurn(prompts.makeFile)).toEqual({ status: 'completed' });
      expect(await session.runTurn(prompts.makeFile)).toEqual({ status: 'completed' });
    });

    it('does not start when it was given up before', async () => {
      const { agent, request } = await open();
      await expect(agent.startSession({ ...request, signal: AbortSignal.abort() })).rejects.toThrow();
    });

    it('rejects, and leaves nothing, when its workspace is not there', async () => {
      const { agent, request, left, session } = await open();
      await session.stop();
      const lost = { ...request, workspace: path.join(request.workspace, 'nowhere') };
      try {
        const opened = await agent.startSession(lost);
        // A backend that starts its program only with a turn fails there.
        expect(await opened.runTurn(prompts.makeFile)).toMatchObject({ status: 'failed' });
        await opened.stop();
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^(process_spawn_failed|agent_launch_failed)$/) });
      }
      expect(await left()).toEqual([]);
    });
  });
}
