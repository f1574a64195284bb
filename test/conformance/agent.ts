import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Agent, AgentEvent, AgentProcess, AgentSession, SessionRequest } from '../../src/agent/agent.ts';
import { eventLine } from '../../src/agent/event-line.ts';
import type { AgentParts } from '../../src/agent/launch-agent.ts';
import { sleep } from '../../src/clock/clock.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { AgentQuestion, QuestionAnswer } from '../../src/core/command/question.ts';
import type { ToolAnswer } from '../../src/core/tool-set.ts';
import { listMarkedProcesses } from '../../src/process/containment/marked-processes.ts';
import { isolationIn } from '../process/isolation/isolation-in.ts';
import { hasNamespaces } from '../security/machine.ts';

/** What a backend provides for the suite: how to create it, and prompts for each behaviour. */
export interface AgentHarness {
  readonly name: string;
  /** Whether a later session can resume a thread; threads are then kept below `home`. */
  readonly remembersThreads: boolean;
  /** `home` is a folder of the account, the same for every session of a test. */
  create(parts: AgentParts, options: { readonly turnTimeoutMs: number; readonly home: string }): Agent;
  readonly prompts: {
    /** Writes `done.txt` with the text `made` into the workspace and ends well. */
    readonly makeFile: string;
    /** Ends badly. */
    readonly fail: string;
    /** Prints something, then falls silent without ending. */
    readonly fallSilent: string;
    /** Starts a process that leaves the session and keeps running, then ends well. */
    readonly leaveOrphan: string;
    /** The program itself dies in the middle of the turn. */
    readonly die: string;
    /** Prints 2 MB in one line, then ends well. */
    readonly longLine: string;
    /** Writes its environment into `env.txt`. */
    readonly showEnvironment: string;
    /** Asks a person one question, continues with the answer and ends well; null if the backend cannot. */
    readonly ask: string | null;
    /** Ends because it needs a person; null if the backend cannot. */
    readonly inputRequired: string | null;
    /** Calls the tool `comment` with the body `hello`, then ends well; null where the backend carries no tool calls. */
    readonly useTool: string | null;
    /** Calls the tool `update_issue_status`, which does not exist here, then ends in any way; null as above. */
    readonly useUnknownTool: string | null;
  };
}

const isolated = isolationIn('/nowhere');

/** The suite of the seam `Agent`, with real processes. Every backend runs it unchanged. */
export function agentConformance(harness: AgentHarness): void {
  describe(`the ${harness.name} agent conforms to the agent seam`, () => {
    const { prompts } = harness;
    const clean: (() => Promise<void> | void)[] = [];
    afterEach(async () => {
      for (const each of clean.splice(0).reverse()) await each();
    });

    interface Opening {
      readonly turnTimeoutMs?: number;
      readonly env?: Record<string, string>;
      readonly accountEnv?: Record<string, string>;
      readonly denyEnv?: string[];
      readonly threadId?: string;
      /** What the door answers to a call. */
      readonly answer?: ToolAnswer;
      /** Replaces the default, in which no one answers. */
      readonly ask?: SessionRequest['ask'];
      /** Replaces the default, in which the claim is certainly ours. */
      readonly isStillOurs?: () => boolean;
      /** The session only reads its workspace, in the isolation of the machine. */
      readonly isReadOnly?: boolean;
      /** The thread of an earlier session to resume. */
      readonly folders?: { readonly workspace: string; readonly home: string };
    }

    const folder = (): string => {
      const made = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-agent-')));
      clean.push(() => rmSync(made, { recursive: true, force: true }));
      return made;
    };

    const open = async (options: Opening = {}) => {
      const { workspace, home } = options.folders ?? { workspace: folder(), home: folder() };
      const parts: AgentParts = {
        clock: systemClock,
        containment: options.isReadOnly ? 'user_pid_namespace' : 'marker_sweep',
        daemonId: systemChance.id(),
        // The home stays writable, as the folder of an account does.
        ...(options.isReadOnly ? { isolate: (place) => isolated({ ...place, writes: [...place.writes, home] }) } : {}),
        daemonEnv: { ...process.env, ...options.env },
        allowEnv: ['ALLOWED'],
        accountEnv: options.accountEnv ?? {},
        denyEnv: options.denyEnv ?? [],
      };
      const events: AgentEvent[] = [];
      const processes: (AgentProcess | null)[] = [];
      const calls: [string, unknown][] = [];
      const runId = systemChance.id();
      const request: SessionRequest = {
        runId,
        workspace,
        threadId: options.threadId ?? null,
        writableRoots: [],
        isReadOnly: options.isReadOnly ?? false,
        title: 'T-1: Mend the door',
        env: { BATON_ISSUE_IDENTIFIER: 'T-1' },
        recovery: null,
        tools: {
          tools: [{ name: 'comment', description: 'Says something on the issue.', inputSchema: { type: 'object' } }],
          call: async (name, input): Promise<ToolAnswer> => {
            calls.push([name, input]);
            return options.answer ?? { success: true, output: 'noted' };
          },
        },
        toolAddress: null,
        ask: options.ask ?? (async () => null),
        onProcess: (each) => void processes.push(each),
        isStillOurs: options.isStillOurs ?? (() => true),
        onEvent: (event) => events.push(event),
      };
      const agent = harness.create(parts, { turnTimeoutMs: options.turnTimeoutMs ?? 60_000, home });
      const session: AgentSession = await agent.startSession(request);
      clean.push(() => session.stop());
      const left = async () =>
        (await listMarkedProcesses({ clock: systemClock })).filter((each) => each.runId === runId);
      const names = (): string[] => events.map(({ name }) => name);
      const folders = { workspace, home };
      return { agent, session, events, names, processes, calls, workspace, folders, request, left };
    };

    it('works in the workspace and reports events that begin with session_started', async () => {
      const { session, names, processes, workspace } = await open();
      expect(await session.runTurn(prompts.makeFile)).toMatchObject({ status: 'completed' });
      expect((await readFile(path.join(workspace, 'done.txt'), 'utf8')).trim()).toBe('made');
      expect(names()[0]).toBe('session_started');
      expect(names()).toContain('turn_started');
      expect(names().at(-1)).toBe('turn_completed');
      expect(processes.length).toBeGreaterThanOrEqual(1);
      expect(processes[0]?.startTime).not.toBeNull();
    });

    it('changes nothing in its workspace in a read-only session, whatever its program does', async ({ skip }) => {
      if (!hasNamespaces) return skip('without namespaces the caller compares the workspace');
      const { session, workspace, left } = await open({ isReadOnly: true });
      await writeFile(path.join(workspace, 'kept.txt'), 'kept');
      expect(await session.runTurn(prompts.makeFile)).toMatchObject({
        status: expect.stringMatching(/^(completed|failed)$/),
      });
      await session.runTurn(prompts.showEnvironment);
      await session.stop();
      expect(await readdir(workspace)).toEqual(['kept.txt']);
      expect(await left()).toEqual([]);
    });

    it('starts no process when the claim may be lost', async () => {
      const launched: (AgentProcess | null)[] = [];
      const turn = open({ isStillOurs: () => false }).then(async ({ session, processes }) => {
        launched.push(...processes);
        const result = await session.runTurn(prompts.makeFile);
        launched.push(...processes);
        return result;
      });
      // A backend with a process from the start cannot begin; one with a process for each turn fails the turn.
      await expect(
        turn.then((result) => ('error' in result ? Promise.reject(result.error) : result)),
      ).rejects.toMatchObject({ code: 'claim_lost' });
      expect(launched).toEqual([]);
    });

    it('reports the start and the end of its process, never the end alone', async () => {
      const { session, processes, left } = await open();
      await session.runTurn(prompts.die);
      await session.stop();
      expect(await left()).toEqual([]);
      expect(processes).toEqual([{ pid: expect.any(Number), startTime: expect.any(Number) }, null]);
    });

    it('reports the end of its process before a stop in the middle of a turn resolves', async () => {
      const { session, events, processes } = await open();
      const turn = session.runTurn(prompts.fallSilent);
      await expect.poll(() => events.some(({ name }) => name === 'notification')).toBe(true);
      expect(processes).toEqual([{ pid: session.pid, startTime: expect.any(Number) }]);
      await session.stop();
      expect(processes.slice(1)).toEqual([null]);
      await turn;
    });

    // @conforms 2.15, X4
    it('reports a failed turn as failed', async () => {
      const { session, events } = await open();
      expect(await session.runTurn(prompts.fail)).toMatchObject({ status: 'failed', error: { retryable: true } });
      expect(events.at(-1)?.name).toBe('turn_failed');
    });

    it('reports a turn as failed when the program dies in the middle of it', async () => {
      const { session, left } = await open();
      expect(await session.runTurn(prompts.die)).toMatchObject({ status: 'failed', error: { code: 'agent_exited' } });
      await session.stop();
      expect(await left()).toEqual([]);
    });

    it('reports a turn as failed after the turn timeout without output', async () => {
      const { session, left } = await open({ turnTimeoutMs: 1_500 });
      expect(await session.runTurn(prompts.fallSilent)).toMatchObject({
        status: 'failed',
        error: { code: 'agent_turn_timeout' },
      });
      await session.stop();
      expect(await left()).toEqual([]);
    });

    it('cancels a turn on request, and leaves nothing after the stop', async () => {
      const { session, events, left } = await open();
      const giveUp = new AbortController();
      const turn = session.runTurn(prompts.fallSilent, giveUp.signal);
      await expect.poll(() => events.some(({ name }) => name === 'notification')).toBe(true);
      giveUp.abort();
      expect(await turn).toEqual({ status: 'cancelled' });
      await session.stop();
      expect(await left()).toEqual([]);
    });

    it('ends a turn in progress when the session is stopped, and reports nothing afterwards', async () => {
      const { session, events, left } = await open();
      const turn = session.runTurn(prompts.fallSilent);
      await expect.poll(() => events.some(({ name }) => name === 'notification')).toBe(true);
      await session.stop();
      const told = events.length;
      expect(await turn).toEqual({ status: 'cancelled' });
      expect(await left()).toEqual([]);
      await session.stop();
      expect(events.length).toBe(told);
      expect(await session.runTurn(prompts.makeFile)).toEqual({ status: 'cancelled' });
    });

    // @conforms X5
    it('leaves no process behind, not even one that left its session', async () => {
      const { session, left } = await open();
      expect(await session.runTurn(prompts.leaveOrphan)).toMatchObject({ status: 'completed' });
      await session.stop();
      expect(await left()).toEqual([]);
    });

    it('accepts a line of two megabytes and shows only a short, safe part of it', async () => {
      const { session, events } = await open();
      expect(await session.runTurn(prompts.longLine)).toMatchObject({ status: 'completed' });
      expect(Math.max(...events.map(({ summary }) => summary.length))).toBeLessThanOrEqual(200);
    });

    // @conforms spec-15.3
    it('passes on only allowed variables and those of the account, never a tracker secret', async () => {
      const { session, workspace } = await open({
        env: { ALLOWED: 'yes', SOMETHING_ELSE: 'no', TRACKER_KEY: 'canary' },
        accountEnv: { ACCOUNT_KEY: 'of-the-account', TRACKER_KEY: 'canary', BATON_ISSUE_IDENTIFIER: 'T-2' },
        denyEnv: ['TRACKER_KEY', 'ALLOWED_TOO'],
      });
      await session.runTurn(prompts.showEnvironment);
      const env = await readFile(path.join(workspace, 'env.txt'), 'utf8');
      expect(env).toContain('ALLOWED=yes');
      expect(env).toContain('ACCOUNT_KEY=of-the-account');
      expect(env).toContain('BATON_ISSUE_IDENTIFIER=T-1');
      expect(env).toMatch(/^BATON_RUN_ID=/m);
      expect(env).not.toContain('SOMETHING_ELSE');
      expect(env).not.toContain('canary');
    });

    it('reports input_required when it needs a person', async ({ skip }) => {
      if (prompts.inputRequired === null) return skip('this backend has no way to say so');
      const { session, events } = await open();
      const result = await session.runTurn(prompts.inputRequired);
      expect(result).toMatchObject({ status: 'input_required', question: expect.stringMatching(/\S/) });
      const question = result.status === 'input_required' ? result.question : '';
      // Screens show the last line of a run: the question, not a code.
      expect(events.at(-1)).toMatchObject({ name: 'turn_input_required', summary: eventLine(question) });
    });

    /** A person who answers when the test allows it, and the questions. */
    const person = () => {
      const asked: AgentQuestion[] = [];
      const signals: (AbortSignal | undefined)[] = [];
      const answers: ((answer: QuestionAnswer | null) => void)[] = [];
      const ask: SessionRequest['ask'] = (question, signal) => {
        asked.push(question);
        signals.push(signal);
        const { promise, resolve } = Promise.withResolvers<QuestionAnswer | null>();
        answers.push(resolve);
        signal?.addEventListener('abort', () => resolve(null), { once: true });
        return promise;
      };
      /** Yes to everything, with the first option of each field. */
      const sayYes = (): void => {
        const fields = asked[0]?.fields ?? [];
        const values = Object.fromEntries(fields.map(({ name, options }) => [name, options[0] ?? 'blue']));
        answers[0]?.({ decision: 'accept', values });
      };
      const isAsked = () => expect.poll(() => asked.length).toBe(1);
      return { ask, asked, signals, answers, sayYes, isAsked };
    };

    // @conforms runs.1
    it('asks a person and continues with the answer, and the wait does not count as silence', async ({ skip }) => {
      if (prompts.ask === null) return skip('this backend has no way to ask');
      const { ask, asked, sayYes, isAsked } = person();
      const turnTimeoutMs = 1_500;
      const { session } = await open({ ask, turnTimeoutMs });
      const turn = session.runTurn(prompts.ask);
      await isAsked();
      await sleep(systemClock, 2 * turnTimeoutMs);
      sayYes();
      expect(await turn).toMatchObject({ status: 'completed' });
      expect(asked).toEqual([
        {
          kind: expect.stringMatching(/^(command|file_change|permission|tool|input)$/),
          text: expect.stringMatching(/^[^\n]*\S[^\n]*$/),
          detail: expect.any(String),
          fields: expect.any(Array),
        },
      ]);
    });

    it('does not hang when no one will answer', async ({ skip }) => {
      if (prompts.ask === null) return skip('this backend has no way to ask');
      const { session, left } = await open({ ask: async () => null });
      expect(await session.runTurn(prompts.ask)).toMatchObject({
        status: expect.stringMatching(/^(completed|failed)$/),
      });
      await session.stop();
      expect(await left()).toEqual([]);
    });

    // @conforms runs.2
    it('withdraws its question when the session is stopped, and leaves nothing', async ({ skip }) => {
      if (prompts.ask === null) return skip('this backend has no way to ask');
      const { ask, signals, isAsked } = person();
      const { session, events, left } = await open({ ask });
      const turn = session.runTurn(prompts.ask);
      await isAsked();
      expect(signals[0]?.aborted).toBe(false);
      await session.stop();
      expect(signals[0]?.aborted).toBe(true);
      const told = events.length;
      expect(await turn).toEqual({ status: 'cancelled' });
      expect(await left()).toEqual([]);
      expect(events.length).toBe(told);
    });

    it('withdraws its question when the turn is cancelled', async ({ skip }) => {
      if (prompts.ask === null) return skip('this backend has no way to ask');
      const { ask, signals, isAsked } = person();
      const { session } = await open({ ask });
      const giveUp = new AbortController();
      const turn = session.runTurn(prompts.ask, giveUp.signal);
      await isAsked();
      giveUp.abort();
      expect(await turn).toEqual({ status: 'cancelled' });
      expect(signals[0]?.aborted).toBe(true);
    });

    it('withdraws its question when the program dies', async ({ skip }) => {
      if (prompts.ask === null) return skip('this backend has no way to ask');
      const { ask, signals, isAsked } = person();
      const { session } = await open({ ask });
      const turn = session.runTurn(prompts.ask);
      await isAsked();
      process.kill(session.pid ?? Number.NaN, 'SIGKILL');
      expect(await turn).toMatchObject({ status: 'failed', error: { code: 'agent_exited' } });
      expect(signals[0]?.aborted).toBe(true);
    });

    it('passes a tool call to the tool set and its answer back', async ({ skip }) => {
      if (prompts.useTool === null) return skip('this backend carries no tool calls');
      const { session, calls, names } = await open();
      expect(await session.runTurn(prompts.useTool)).toMatchObject({ status: 'completed' });
      expect(calls).toEqual([['comment', { body: 'hello' }]]);
      expect(names()).toContain('tool_call_completed');
    });

    it('reports a failed tool call, and the turn still ends', async ({ skip }) => {
      if (prompts.useTool === null) return skip('this backend carries no tool calls');
      const { session, names } = await open({ answer: { success: false, output: 'not today' } });
      await session.runTurn(prompts.useTool);
      expect(names()).toContain('tool_call_failed');
      expect(names()).not.toContain('tool_call_completed');
    });

    it('reports a call of an unknown tool, and the turn still ends', async ({ skip }) => {
      if (prompts.useUnknownTool === null) return skip('this backend carries no tool calls');
      const { session, names } = await open({ answer: { success: false, output: 'there is: comment' } });
      await session.runTurn(prompts.useUnknownTool);
      expect(names()).toContain('unsupported_tool_call');
    });

    // @conforms runs.3
    it('starts a new thread when the one to resume is gone', async () => {
      const { session } = await open({ threadId: '00000000-0000-4000-8000-000000000000' });
      expect(session.isResumed).toBe(false);
      expect(session.threadId).not.toBe('00000000-0000-4000-8000-000000000000');
      expect(await session.runTurn(prompts.makeFile)).toMatchObject({ status: 'completed' });
    });

    // @conforms runs.4
    it('resumes a thread in a new process', async ({ skip }) => {
      if (!harness.remembersThreads) return skip('this backend has no threads');
      const first = await open();
      expect(first.session.isResumed).toBe(false);
      await first.session.runTurn(prompts.makeFile);
      await first.session.stop();
      const second = await open({ threadId: first.session.threadId ?? '', folders: first.folders });
      expect(second.session).toMatchObject({ isResumed: true, threadId: first.session.threadId });
      expect(second.names()).toEqual(['session_started']);
      expect(await second.session.runTurn(prompts.makeFile)).toMatchObject({ status: 'completed' });
    });

    // @conforms runs.5
    it('receives a message in the middle of a turn, and only there', async ({ skip }) => {
      const { session, names } = await open();
      if (session.steer === undefined) return skip('this backend cannot be told anything in a turn');
      expect(await session.steer('before')).toBe(false);
      const giveUp = new AbortController();
      const turn = session.runTurn(prompts.fallSilent, giveUp.signal);
      await expect.poll(names).toContain('notification');
      expect(await session.steer('Use the other door.')).toBe(true);
      giveUp.abort();
      await turn;
      expect(await session.steer('after')).toBe(false);
      await session.stop();
      expect(await session.steer('late')).toBe(false);
    });

    // @conforms spec-10.4
    it('reports each turn with a start and one end, in the order of time', async () => {
      const { session, events, names } = await open();
      await session.runTurn(prompts.makeFile);
      await session.runTurn(prompts.fail);
      const isFrame = (name: string) => /^(session_|turn_)/.test(name);
      const frame = ['session_started', 'turn_started', 'turn_completed', 'turn_started', 'turn_failed'];
      expect(names().filter(isFrame)).toEqual(frame);
      const times = events.map(({ at }) => at);
      expect(times).toEqual(times.toSorted((left, right) => left - right));
    });

    it('runs a second turn in the same session', async () => {
      const { session } = await open();
      expect(await session.runTurn(prompts.makeFile)).toMatchObject({ status: 'completed' });
      expect(await session.runTurn(prompts.makeFile)).toMatchObject({ status: 'completed' });
    });

    it('does not start when it was cancelled before', async () => {
      const { agent, request } = await open();
      await expect(agent.startSession({ ...request, signal: AbortSignal.abort() })).rejects.toThrow();
    });

    it('rejects, and leaves nothing, when its workspace is missing', async () => {
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
