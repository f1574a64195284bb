import type { BatonError } from '../../../core/baton-error.ts';
import { parseJson } from '../../../core/text/parse-json.ts';
import type { LiveProcess } from '../../../process/containment/live-process.ts';
import type { AgentParts } from '../../launch-agent.ts';
import { AwaitedAnswers } from '../../wire/awaited-answers.ts';
import { type Fields, fieldsOf, isFields, textOf } from '../../wire/fields.ts';
import { JsonLines } from '../../wire/json-lines.ts';

/** All control requests that Baton sends to Claude Code. */
export type ControlRequest =
  | { readonly subtype: 'initialize'; readonly hooks: null }
  | { readonly subtype: 'interrupt' }
  /** Takes back a message that no turn has read yet. */
  | { readonly subtype: 'cancel_async_message'; readonly message_uuid: string };

/** Claude Code answered a control request with an error. */
class ClaudeRefusal extends Error {
  override readonly name = 'ClaudeRefusal';

  constructor(subtype: string, reason: string) {
    super(`Claude Code refused ${subtype}: ${reason}`);
  }
}

export type ControlAnswer = { readonly response: object } | { readonly error: string };

export interface ConnectionListeners {
  /** Called for every line. */
  onSound(): void;
  onMessage(type: string, message: Fields): void;
  onGarbage(line: string): void;
  /** Nothing more will be read or answered: Claude Code exited, or broke its protocol. Called once. */
  onEnd(error: BatonError): void;
}

/**
 * The streaming JSON mode of Claude Code with its control protocol, over the standard streams of its process. What must
 * hold: every control request settles, by its answer, by silence, or by the end of the connection; a line that is not a
 * message is reported and has no other effect.
 */
export class ClaudeConnection {
  readonly #listeners: ConnectionListeners;
  readonly #waiting: AwaitedAnswers<string>;
  readonly #lines: JsonLines;
  #lastId = 0;

  constructor(process: LiveProcess, { clock }: AgentParts, listeners: ConnectionListeners) {
    this.#listeners = listeners;
    this.#waiting = new AwaitedAnswers('Claude Code', clock);
    this.#lines = new JsonLines({
      name: 'Claude Code',
      process,
      clock,
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

  /** Resolves with the answer of Claude Code; rejects with a ClaudeRefusal, after silence, or when the session ends. */
  async control(request: ControlRequest, silenceMs: number, signal?: AbortSignal): Promise<Fields> {
    if (this.ended !== null) throw this.ended;
    this.#lastId += 1;
    const id = `baton-${this.#lastId}`;
    const answer = await this.#waiting.wait(id, request.subtype, silenceMs, signal, () =>
      this.#lines.write({ type: 'control_request', request_id: id, request }),
    );
    if (answer.subtype !== 'error') return fieldsOf(answer.response);
    throw new ClaudeRefusal(request.subtype, textOf(answer.error) ?? 'no reason given');
  }

  /** Sends a message of the user. Claude Code reports by this id when a turn reads it. */
  say(text: string, uuid: string): void {
    const message = { role: 'user', content: [{ type: 'text', text }] };
    this.#lines.write({ type: 'user', message, parent_tool_use_id: null, session_id: '', uuid });
  }

  answer(requestId: string, answer: ControlAnswer): void {
    const subtype = 'error' in answer ? 'error' : 'success';
    this.#lines.write({ type: 'control_response', response: { subtype, request_id: requestId, ...answer } });
  }

  #receive(line: string): void {
    this.#listeners.onSound();
    const message = readMessage(line);
    if (message === null) {
      if (line.trim() !== '') this.#listeners.onGarbage(line);
      return;
    }
    this.#waiting.touch();
    const type = textOf(message.type) ?? '';
    const answer = fieldsOf(message.response);
    const id = textOf(answer.request_id) ?? '';
    if (type === 'control_response' && this.#waiting.has(id)) this.#waiting.settle(id, answer);
    else this.#listeners.onMessage(type, message);
  }
}

function readMessage(line: string): Fields | null {
  try {
    const value = parseJson(line);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}
