import { timedOut, within } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { LiveProcess } from '../../process/live-process.ts';
import type {
  Agent,
  AgentEvent,
  AgentEventName,
  AgentSession,
  SessionRequest,
  TokenUsage,
  TurnResult,
} from '../agent.ts';
import { eventLine } from '../event-line.ts';
import { type AgentParts, endAgent, launchAgent } from '../launch-agent.ts';
import { SilenceTimer } from '../silence-timer.ts';
import { decode, encode, type FromBaton, type FromProgram, fromProgram } from './protocol.ts';

export interface RehearsalAgentOptions {
  readonly nodePath: string;
  /** The file of the program, `program.ts` beside this one. */
  readonly program: string;
  readonly readTimeoutMs: number;
  readonly turnTimeoutMs: number;
}

/**
 * The stand-in for a coding agent: a program of its own that acts out a script from the ticket. It needs no key and no
 * network, and is driven like the real ones: one process a session, several turns, tools, events, usage.
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
  readonly #process: LiveProcess;
  readonly #request: SessionRequest;
  readonly #options: RehearsalAgentOptions;
  readonly #parts: AgentParts;
  readonly #ready = Promise.withResolvers<void>();
  readonly #reading: Promise<void>;
  #turn: { settle: (result: TurnResult) => void; silence: SilenceTimer } | null = null;
  #ended: BatonError | null = null;
  #stopped = false;

  constructor(process: LiveProcess, request: SessionRequest, options: RehearsalAgentOptions, parts: AgentParts) {
    this.#process = process;
    this.#request = request;
    this.#options = options;
    this.#parts = parts;
    // Whoever waits for it handles it; when the program ends before anybody waits, nobody has to.
    this.#ready.promise.catch(() => {});
    this.#reading = this.#read();
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Waits for the program's first word. */
  async becomeReady(): Promise<void> {
    const { readTimeoutMs } = this.#options;
    const onAbort = (): void => this.#ready.reject(this.#request.signal?.reason);
    this.#request.signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const first = await within(this.#parts.clock, readTimeoutMs, this.#ready.promise);
      if (first === timedOut) {
        throw new BatonError('agent_launch_failed', `The rehearsal program said nothing for ${readTimeoutMs} ms.`);
      }
      this.#tell('session_started', `rehearsal session ${this.threadId}`);
    } catch (error) {
      this.#tell('startup_failed', error instanceof Error ? error.message : 'the session did not start');
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
    this.#turn = { settle, silence };
    this.#tell('turn_started', 'turn started');
    try {
      this.#send({ type: 'turn', prompt });
      const result = await promise;
      this.#tell(eventOf[result.status], summaryOf(result));
      return result;
    } finally {
      this.#turn = null;
      silence.cancel();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#turn?.settle({ status: 'cancelled' });
    await endAgent(this.#process);
    await this.#reading;
  }

  /** Reads what the program says until it ends; then whatever still waits for it fails. */
  async #read(): Promise<void> {
    for await (const line of this.#process.lines) {
      if (this.#stopped) continue;
      this.#turn?.silence.touch();
      const message = line.complete ? decode(fromProgram, line.text) : null;
      if (message === null) this.#tell('malformed', line.text);
      else this.#hear(message);
    }
    const exit = await this.#process.exited;
    const how = exit.code === null ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`;
    this.#ended = new BatonError('agent_exited', `The rehearsal program ${how} in the middle of its session.`, {
      details: { exit_code: exit.code, signal: exit.signal, stderr: this.#process.stderrTail().slice(-2_048) },
    });
    this.#ready.reject(this.#ended);
    this.#turn?.settle({ status: 'failed', error: this.#ended });
  }

  #hear(message: FromProgram): void {
    switch (message.type) {
      case 'ready':
        this.threadId = message.thread_id;
        this.#ready.resolve();
        break;
      case 'message':
        this.#tell('notification', message.text);
        break;
      case 'usage':
        this.#tell('notification', 'token usage', usageOf(message));
        break;
      case 'tool_call':
        void this.#callTool(message.id, message.name, message.input);
        break;
      case 'turn_completed':
        this.#turn?.settle({ status: 'completed' });
        break;
      case 'turn_failed':
        this.#turn?.settle({ status: 'failed', error: new BatonError('agent_turn_failed', message.message) });
        break;
      case 'input_required':
        this.#turn?.settle({ status: 'input_required', question: message.question });
        break;
    }
  }

  async #callTool(id: number, name: string, input: unknown): Promise<void> {
    const answer = await this.#request.tools.call(name, input);
    if (this.#stopped) return;
    this.#tell(answer.success ? 'tool_called' : 'unsupported_tool_call', `${name}: ${answer.output}`);
    this.#send({ type: 'tool_answer', id, ...answer });
  }

  #send(message: FromBaton): void {
    // A program that takes no more input has ended or is about to; `#read` finds out and tells it.
    this.#process.write(encode(message)).catch((error) => this.#tell('other_message', String(error)));
  }

  #tell(name: AgentEventName, summary: string, usage?: TokenUsage): void {
    if (this.#stopped) return;
    const event: AgentEvent = { name, at: this.#parts.clock.now(), pid: this.pid, summary: eventLine(summary) };
    this.#request.onEvent(usage === undefined ? event : { ...event, usage });
  }
}

const eventOf = {
  completed: 'turn_completed',
  failed: 'turn_failed',
  cancelled: 'turn_cancelled',
  input_required: 'turn_input_required',
} as const satisfies Record<TurnResult['status'], AgentEventName>;

function summaryOf(result: TurnResult): string {
  if (result.status === 'failed') return result.error.message;
  return result.status === 'input_required' ? result.question : `turn ${result.status}`;
}

function usageOf(message: { input_tokens: number; output_tokens: number }): TokenUsage {
  const { input_tokens: inputTokens, output_tokens: outputTokens } = message;
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}
