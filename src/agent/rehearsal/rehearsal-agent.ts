import { timedOut, within } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { LiveProcess } from '../../process/containment/live-process.ts';
import type { Agent, AgentEvent, AgentEventName, AgentSession, SessionRequest, TurnResult } from '../agent.ts';
import { eventLine } from '../event-line.ts';
import { type AgentParts, endAgent, launchAgent } from '../launch-agent.ts';
import { SilenceTimer } from '../silence-timer.ts';
import { decode, encode, type FromBaton, type FromProgram, fromProgram } from './protocol.ts';
import { eventOf, field, questionOf, summaryOf, turnResult, usageOf } from './read-message.ts';

export interface RehearsalAgentOptions {
  readonly nodePath: string;
  /** The file of the program: `program.ts` in this folder. */
  readonly program: string;
  readonly readTimeoutMs: number;
  readonly turnTimeoutMs: number;
}

/**
 * The scripted agent: a separate program that acts out a script from the issue. It needs no key and no
 * network, and runs like the real ones: one process a session, several turns, tools, questions, events, usage. A thread
 * can be continued where the account has a folder for it.
 */
export function createRehearsalAgent(options: RehearsalAgentOptions, parts: AgentParts): Agent {
  return {
    backend: 'rehearsal',
    startSession: async (request) => {
      request.signal?.throwIfAborted();
      const program = { command: options.nodePath, args: [options.program], stdin: 'open' as const };
      const process = await launchAgent(program, request, parts);
      const session = new RehearsalSession(process, request, options, parts);
      try {
        await session.becomeReady();
        return session;
      } catch (error) {
        await session.stop();
        throw error;
      }
    },
  };
}

class RehearsalSession implements AgentSession {
  readonly remembersTurns = true;
  threadId: string | null = null;
  isResumed = false;
  readonly #process: LiveProcess;
  readonly #request: SessionRequest;
  readonly #options: RehearsalAgentOptions;
  readonly #parts: AgentParts;
  readonly #ready = Promise.withResolvers<void>();
  readonly #reading: Promise<void>;
  #turn: Turn | null = null;
  #ended: BatonError | null = null;
  #stopped = false;

  constructor(process: LiveProcess, request: SessionRequest, options: RehearsalAgentOptions, parts: AgentParts) {
    this.#process = process;
    this.#request = request;
    this.#options = options;
    this.#parts = parts;
    // The code that awaits it handles the rejection; this avoids an unhandled one when the program ends first.
    this.#ready.promise.catch(() => {});
    this.#reading = this.#read();
    this.#send({ type: 'start', thread_id: request.threadId });
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Waits for the first message of the program. */
  async becomeReady(): Promise<void> {
    const { readTimeoutMs } = this.#options;
    const onAbort = (): void => this.#ready.reject(this.#request.signal?.reason);
    this.#request.signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const first = await within(this.#parts.clock, readTimeoutMs, this.#ready.promise);
      if (first === timedOut) {
        throw new BatonError('agent_launch_failed', `The rehearsal program said nothing for ${readTimeoutMs} ms.`);
      }
      this.#emit('session_started', `rehearsal session ${this.threadId}`);
    } catch (error) {
      this.#emit('startup_failed', error instanceof Error ? error.message : 'the session did not start');
      throw error;
    } finally {
      this.#request.signal?.removeEventListener('abort', onAbort);
    }
  }

  async runTurn(prompt: string, signal?: AbortSignal): Promise<TurnResult> {
    if (this.#stopped || signal?.aborted) return { status: 'cancelled' };
    if (this.#ended !== null) return { status: 'failed', error: this.#ended };
    const { promise, resolve: settle } = Promise.withResolvers<TurnResult>();
    const silence = new SilenceTimer(this.#parts.clock, this.#options.turnTimeoutMs, () => {
      const message = `The rehearsal program said nothing for ${this.#options.turnTimeoutMs} ms.`;
      settle({ status: 'failed', error: new BatonError('agent_turn_timeout', message) });
    });
    const onAbort = (): void => settle({ status: 'cancelled' });
    signal?.addEventListener('abort', onAbort, { once: true });
    const over = new AbortController();
    this.#turn = { settle, silence, over };
    this.#emit('turn_started', 'turn started');
    try {
      this.#send({ type: 'turn', prompt });
      const result = await promise;
      this.#emit(eventOf[result.status], summaryOf(result));
      return result;
    } finally {
      this.#turn = null;
      over.abort();
      silence.cancel();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async steer(text: string): Promise<boolean> {
    if (this.#turn === null || this.#stopped || this.#ended !== null) return false;
    this.#send({ type: 'steer', text });
    return true;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#turn?.settle({ status: 'cancelled' });
    this.#turn?.over.abort();
    await endAgent(this.#process);
    await this.#reading;
  }

  /** Reads the program's messages until it ends; then everything that still waits for it fails. */
  async #read(): Promise<void> {
    for await (const line of this.#process.lines) {
      if (this.#stopped) continue;
      this.#turn?.silence.touch();
      const message = line.complete ? decode(fromProgram, line.text) : null;
      if (message === null) this.#emit('malformed', line.text);
      else this.#receive(message);
    }
    const exit = await this.#process.exited;
    const how = exit.code === null ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`;
    this.#ended = new BatonError('agent_exited', `The rehearsal program ${how} in the middle of its session.`, {
      details: { exit_code: exit.code, signal: exit.signal, stderr: this.#process.stderrTail().slice(-2_048) },
    });
    this.#ready.reject(this.#ended);
    this.#turn?.settle({ status: 'failed', error: this.#ended });
  }

  #receive(message: FromProgram): void {
    switch (message.type) {
      case 'ready':
        this.threadId = message.thread_id;
        this.isResumed = message.is_resumed;
        this.#ready.resolve();
        break;
      case 'message':
        this.#emit('notification', message.text, { payload: message });
        break;
      case 'usage':
        this.#emit('notification', 'token usage', {
          usage: usageOf(message),
          payload: { method: 'thread/tokenUsage/updated', params: message },
        });
        break;
      case 'tool_call':
        if (this.#turn !== null) void this.#callTool(message, this.#turn);
        break;
      case 'ask':
        if (this.#turn !== null) void this.#ask(message, this.#turn);
        break;
      default:
        this.#turn?.settle(turnResult(message, this.#parts.clock.now()));
    }
  }

  async #callTool({ id, name, input }: Received<'tool_call'>, turn: Turn): Promise<void> {
    // A tool may ask a person: the program does not count as silent while Baton works.
    const endPause = turn.silence.pause();
    const answer = await this.#request.tools.call(name, input);
    endPause();
    const isKnown = this.#request.tools.tools.some((tool) => tool.name === name);
    const outcome = answer.success ? 'tool_call_completed' : 'tool_call_failed';
    const payload = { name, input, ...answer };
    this.#emit(isKnown ? outcome : 'unsupported_tool_call', `${name}: ${answer.output}`, { payload });
    this.#send({ type: 'tool_answer', id, ...answer });
  }

  async #ask({ id, text, options }: Received<'ask'>, turn: Turn): Promise<void> {
    this.#emit('approval_required', text, { payload: { text, options } });
    const endPause = turn.silence.pause();
    const answer = await this.#request.ask(questionOf(text, options), turn.over.signal);
    endPause();
    if (turn.over.signal.aborted) return;
    const words = answer?.decision === 'decline' ? '' : (answer?.values[field] ?? '');
    this.#send({ type: 'answer', id, text: answer === null ? null : words });
  }

  #send(message: FromBaton): void {
    if (this.#stopped) return;
    // A program that accepts no more input has ended or is about to; `#read` notices and reports it.
    this.#process.write(encode(message)).catch((error) => {
      // Before the session is ready, only its start may be reported.
      if (this.threadId !== null) this.#emit('other_message', String(error));
    });
  }

  #emit(name: AgentEventName, summary: string, more: Pick<AgentEvent, 'usage' | 'payload'> = {}): void {
    if (this.#stopped) return;
    this.#request.onEvent({
      name,
      at: this.#parts.clock.now(),
      pid: this.pid,
      summary: eventLine(summary),
      ...more,
    });
  }
}

interface Turn {
  readonly settle: (result: TurnResult) => void;
  readonly silence: SilenceTimer;
  /** Aborted when the turn has ended in any way: withdraws its questions. */
  readonly over: AbortController;
}

type Received<Type extends FromProgram['type']> = Extract<FromProgram, { type: Type }>;
