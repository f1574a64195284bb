import type { BatonError } from '../../../core/baton-error.ts';
import type { LiveProcess } from '../../../process/containment/live-process.ts';
import type { AgentParts } from '../../launch-agent.ts';
import { AwaitedAnswers } from '../../wire/awaited-answers.ts';
import { type Fields, fieldsOf, isFields, shown, textOf } from '../../wire/fields.ts';
import { JsonLines } from '../../wire/json-lines.ts';
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
 * The protocol of the app-server over the standard streams of its process: one JSON object a line. What must hold:
 * every request settles, by its answer, by silence, or by the end of the connection; a line that is not a frame is
 * reported and has no other effect.
 */
export class CodexConnection {
  readonly #listeners: ConnectionListeners;
  readonly #waiting: AwaitedAnswers<RequestId>;
  readonly #lines: JsonLines;
  #lastId = 0;
  #lastRetry: string | null | undefined = null;

  constructor(process: LiveProcess, parts: AgentParts, listeners: ConnectionListeners) {
    this.#waiting = new AwaitedAnswers('Codex', parts.clock);
    this.#listeners = listeners;
    this.#lines = new JsonLines({
      name: 'Codex',
      process,
      clock: parts.clock,
      onLine: (text) => this.#receive(text),
      onEnd: (error) => {
        this.#waiting.fail(error);
        listeners.onEnd(error);
      },
    });
  }

  /** Why the connection ended; null while it is open. */
  get ended(): BatonError | null {
    return this.#lines.ended;
  }

  get reading(): Promise<void> {
    return this.#lines.reading;
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
    if (this.ended !== null) throw this.ended;
    this.#lastId += 1;
    const id = this.#lastId;
    const { error, result } = await this.#waiting.wait(id, method, silenceMs, signal, () =>
      this.#lines.write({ id, method, params }),
    );
    // Some versions send a result together with a null error.
    if (error !== undefined && error !== null)
      throw new CodexRefusal(method, isFields(error) ? error : { message: shown(error) });
    return fieldsOf(result);
  }

  notifyInitialized(): void {
    this.#lines.write({ method: 'initialized' });
  }

  answer(id: RequestId, answer: CodexAnswer): void {
    this.#lines.write({ id, ...answer });
  }

  #receive(text: string): void {
    const frame = readFrame(text);
    if (frame !== null && this.#isSameRetry(frame)) return;
    this.#listeners.onSound();
    // A line that is not a frame may be part of an endless banner, so it does not reset the timeout of a request.
    if (frame !== null) this.#waiting.touch();
    if (text.trim() === '') return;
    if (frame === null) this.#listeners.onGarbage(text);
    else if (frame.kind !== 'answer') this.#listeners.onFrame(frame);
    else if (this.#waiting.has(frame.id)) this.#waiting.settle(frame.id, frame.whole);
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
}
