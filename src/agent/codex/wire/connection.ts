import { sleep } from '../../../clock/clock.ts';
import { BatonError } from '../../../core/baton-error.ts';
import type { LiveProcess } from '../../../process/containment/live-process.ts';
import { eventLine } from '../../event-line.ts';
import type { AgentParts } from '../../launch-agent.ts';
import { SilenceTimer } from '../../silence-timer.ts';
import { type Fields, fieldsOf, isFields, shown, textOf } from './fields.ts';
import { type Frame, type RequestId, readFrame } from './frame.ts';
import type {
  ApplyPatchApprovalResponse,
  CommandExecParams,
  CommandExecutionRequestApprovalResponse,
  CurrentTimeReadResponse,
  DynamicToolCallResponse,
  ExecCommandApprovalResponse,
  FileChangeRequestApprovalResponse,
  GetAccountParams,
  InitializeParams,
  McpServerElicitationRequestResponse,
  PermissionsRequestApprovalResponse,
  ThreadBackgroundTerminalsCleanParams,
  ThreadCompactStartParams,
  ThreadResumeParams,
  ThreadSetNameParams,
  ThreadStartParams,
  ToolRequestUserInputResponse,
  TurnInterruptParams,
  TurnStartParams,
  TurnSteerParams,
} from './protocol.ts';

/** All requests that Baton sends to Codex. */
export interface CodexRequests {
  readonly initialize: InitializeParams;
  readonly 'thread/start': ThreadStartParams;
  readonly 'thread/resume': ThreadResumeParams;
  readonly 'thread/name/set': ThreadSetNameParams;
  readonly 'thread/compact/start': ThreadCompactStartParams;
  readonly 'thread/backgroundTerminals/clean': ThreadBackgroundTerminalsCleanParams;
  readonly 'turn/start': TurnStartParams;
  readonly 'turn/steer': TurnSteerParams;
  readonly 'turn/interrupt': TurnInterruptParams;
  // Only the doctor sends these; a session does not.
  readonly 'account/read': GetAccountParams;
  readonly 'command/exec': CommandExecParams;
}

/** All results with which Baton answers requests of Codex. */
export type CodexResult =
  | CommandExecutionRequestApprovalResponse
  | FileChangeRequestApprovalResponse
  | PermissionsRequestApprovalResponse
  | ExecCommandApprovalResponse
  | ApplyPatchApprovalResponse
  | ToolRequestUserInputResponse
  | McpServerElicitationRequestResponse
  | DynamicToolCallResponse
  | CurrentTimeReadResponse;

export type CodexAnswer =
  | { readonly result: CodexResult }
  | { readonly error: { readonly code: number; readonly message: string } };

/** Codex answered a request with an error of its protocol. */
export class CodexRefusal extends Error {
  override readonly name = 'CodexRefusal';
  /** The error as Codex sent it. */
  readonly refusal: Fields;

  constructor(method: string, refusal: Fields) {
    super(`Codex refused ${method}: ${textOf(refusal.message) ?? 'no reason given'}`);
    this.refusal = refusal;
  }
}

export interface ConnectionListeners {
  /** Called for every line, except a repeat of the same retry notice. */
  onSound(): void;
  onFrame(frame: Exclude<Frame, { kind: 'answer' }>): void;
  onGarbage(line: string): void;
  /** Nothing more will be read or answered: Codex exited, or broke its protocol. Called once. */
  onEnd(error: BatonError): void;
}

/**
 * Lines of one session that are read before other sessions get their turn. A higher number is faster for one session.
 */
const linesPerBatch = 100;
/** How long to wait for the error output of a program that ended before any was read. */
const lastWordsMs = 500;
const checkAgainMs = 20;
const shownTail = 2_048;
/** Characters that Codex has not read yet: more than any prompt with all the answers of a turn. */
const mostUnwritten = 32 * 1024 * 1024;

/**
 * The protocol of the app-server over the standard streams of its process: one JSON object a line. What must hold:
 * every request settles, by its answer, by silence, or by the end of the connection; a line that is not a frame is
 * reported and has no other effect; a line longer than any message ends the connection, because its content is lost.
 */
export class CodexConnection {
  readonly #process: LiveProcess;
  readonly #parts: AgentParts;
  readonly #listeners: ConnectionListeners;
  readonly #waiting = new Map<
    RequestId,
    { settle: (answer: Fields) => void; fail: (error: Error) => void; silence: SilenceTimer }
  >();
  readonly reading: Promise<void>;
  #lastId = 0;
  #unwritten = 0;
  #lastRetry: string | null | undefined = null;
  #ended: BatonError | null = null;

  constructor(process: LiveProcess, parts: AgentParts, listeners: ConnectionListeners) {
    this.#process = process;
    this.#parts = parts;
    this.#listeners = listeners;
    this.reading = this.#read();
  }

  /** Why the connection ended; null while it is open. */
  get ended(): BatonError | null {
    return this.#ended;
  }

  /**
   * Sends a request to Codex and resolves with its result. Rejects with a CodexRefusal, with `agent_turn_timeout` when
   * Codex sent nothing for `silenceMs`, or with the error that ended the connection.
   */
  async request<Method extends keyof CodexRequests>(
    method: Method,
    params: CodexRequests[Method],
    silenceMs: number,
    signal?: AbortSignal,
  ): Promise<Fields> {
    signal?.throwIfAborted();
    if (this.#ended !== null) throw this.#ended;
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve: settle, reject: fail } = Promise.withResolvers<Fields>();
    const silence = new SilenceTimer(this.#parts.clock, silenceMs, () =>
      fail(
        new BatonError('agent_turn_timeout', `Codex did not answer ${method} and said nothing for ${silenceMs} ms.`, {
          details: { method, silence_ms: silenceMs },
        }),
      ),
    );
    const onAbort = (): void => fail(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#waiting.set(id, { settle, fail, silence });
    try {
      this.#write({ id, method, params });
      const answer = await promise;
      const { error } = answer;
      // Some versions send a result together with a null error.
      if (error !== undefined && error !== null)
        throw new CodexRefusal(method, isFields(error) ? error : { message: shown(error) });
      return fieldsOf(answer.result);
    } finally {
      silence.cancel();
      signal?.removeEventListener('abort', onAbort);
      this.#waiting.delete(id);
    }
  }

  notifyInitialized(): void {
    this.#write({ method: 'initialized' });
  }

  answer(id: RequestId, answer: CodexAnswer): void {
    this.#write({ id, ...answer });
  }

  #write(message: object): void {
    if (this.#ended !== null) return;
    // A program that accepts no more input has ended or is about to; the reader notices and reports it.
    const line = `${JSON.stringify(message)}\n`;
    this.#unwritten += line.length;
    const written = (): void => {
      this.#unwritten -= line.length;
    };
    this.#process.write(line).then(written, written);
    if (this.#unwritten <= mostUnwritten) return;
    this.#end(new BatonError('agent_protocol_error', 'Codex sends requests but does not read the answers.'));
  }

  async #read(): Promise<void> {
    let lines = 0;
    for await (const line of this.#process.lines) {
      try {
        if (this.#ended === null) this.#receive(line.text, line.truncated);
      } catch (cause) {
        // A defect of Baton, triggered by an unexpected frame: this session ends, the daemon does not.
        this.#end(new BatonError('agent_protocol_error', 'Baton failed to process a message of Codex.', { cause }));
      }
      lines += 1;
      // One piece of output may hold thousands of lines, and other sessions need the event loop.
      if (lines % linesPerBatch === 0) await sleep(this.#parts.clock, 0);
    }
    const exit = await this.#process.exited;
    const how = exit.code === null ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`;
    await this.#lastWords();
    const stderr = this.#process.stderrTail().trim().slice(-shownTail);
    const lastLine = eventLine(stderr.split('\n').at(-1) ?? '');
    const message = `Codex ${how} in the middle of its session${lastLine === '' ? '.' : `: ${lastLine}`}`;
    this.#end(
      new BatonError('agent_exited', message, { details: { exit_code: exit.code, signal: exit.signal, stderr } }),
    );
  }

  /** The exit of a program may be known a moment before its last output is read. */
  async #lastWords(): Promise<void> {
    const { clock } = this.#parts;
    const until = clock.monotonic() + lastWordsMs;
    while (this.#process.stderrTail() === '' && clock.monotonic() < until) await sleep(clock, checkAgainMs);
  }

  #receive(text: string, isTruncated: boolean): void {
    if (isTruncated) {
      const message = `Codex sent a line of more than ${text.length} characters, which cannot be a message.`;
      this.#end(new BatonError('agent_protocol_error', message));
      return;
    }
    const frame = readFrame(text);
    if (frame !== null && this.#isSameRetry(frame)) return;
    this.#listeners.onSound();
    // A line that is not a frame may be part of an endless banner, so it does not reset the timeout of a request.
    if (frame !== null) for (const { silence } of this.#waiting.values()) silence.touch();
    if (text.trim() === '') return;
    if (frame === null) this.#listeners.onGarbage(text);
    else if (frame.kind !== 'answer') this.#listeners.onFrame(frame);
    else if (this.#waiting.has(frame.id)) this.#waiting.get(frame.id)?.settle(frame.whole);
    // An answer that came too late: its request is already settled.
    else this.#listeners.onFrame({ kind: 'other', whole: frame.whole });
  }

  /**
   * Without a network Codex reports forever that it tries again. A repeat of the same notice is not a sign of life: it
   * counts as silence, so that a turn that gets nowhere ends.
   */
  #isSameRetry(frame: Frame): boolean {
    const isRetry = frame.kind === 'notification' && frame.method === 'error' && frame.params.willRetry === true;
    const retry = isRetry ? JSON.stringify(frame.params.error) : null;
    const isSame = retry !== null && retry === this.#lastRetry;
    this.#lastRetry = retry;
    return isSame;
  }

  #end(error: BatonError): void {
    if (this.#ended !== null) return;
    this.#ended = error;
    for (const { fail } of this.#waiting.values()) fail(error);
    this.#listeners.onEnd(error);
  }
}
