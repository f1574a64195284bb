import type { AnyMessage, ClientConnection } from '@agentclientprotocol/sdk';
import type { BatonError } from '../../../core/baton-error.ts';
import { parseJson } from '../../../core/text/parse-json.ts';
import type { LiveProcess } from '../../../process/containment/live-process.ts';
import type { AgentParts } from '../../launch-agent.ts';
import { AwaitedAnswers } from '../../wire/awaited-answers.ts';
import { type Fields, fieldsOf, isFields, textOf } from '../../wire/fields.ts';
import { JsonLines } from '../../wire/json-lines.ts';

/** The package of the protocol. It is loaded with the first session, because it checks with large schemas. */
export type Sdk = typeof import('@agentclientprotocol/sdk');

/** A request of the agent that Baton refuses, with a code of JSON-RPC. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly code: number;

  constructor(message: string, code = invalidParams) {
    super(message);
    this.code = code;
  }
}

const invalidParams = -32602;
export const notFound = -32002;
export const unknownMethod = -32601;

export interface ConnectionListeners {
  /** Called for every line. */
  onSound(): void;
  onNotification(method: string, params: Fields): void;
  /** The answer to a request of the agent; rejects with `Refused`. The signal aborts when the agent withdraws it. */
  onRequest(method: string, params: Fields, signal: AbortSignal): Promise<object>;
  onGarbage(line: string): void;
  /** Nothing more will be read or answered: the agent exited, or broke its protocol. Called once. */
  onEnd(error: BatonError): void;
}

/**
 * The Agent Client Protocol over the standard streams of the agent's process. The SDK matches requests and answers. In
 * front of it stands Baton's own reader of lines, because the SDK has bounds for neither memory nor time, and drops
 * updates whose kind it does not know: notifications are read here, in the order in which they arrive. What must hold:
 * every request settles, by its answer, by silence, or by the end of the connection; a line that is not a message is
 * reported and has no other effect.
 */
export class AcpConnection {
  readonly #listeners: ConnectionListeners;
  readonly #waiting: AwaitedAnswers<number>;
  readonly #lines: JsonLines;
  readonly #sdk: ClientConnection;
  /** The ids of requests without an answer: the SDK prints an answer that it does not expect. */
  readonly #asked = new Set<unknown>();
  #incoming: ReadableStreamDefaultController<AnyMessage> | null = null;
  #lastId = 0;

  constructor(name: string, sdk: Sdk, process: LiveProcess, { clock }: AgentParts, listeners: ConnectionListeners) {
    this.#listeners = listeners;
    this.#waiting = new AwaitedAnswers(name, clock);
    const readable = new ReadableStream<AnyMessage>({
      start: (controller) => {
        this.#incoming = controller;
      },
    });
    const writable = new WritableStream<AnyMessage>({ write: (message) => this.#write(message) });
    this.#sdk = sdk
      .client()
      .onRequest('*', ({ method, params, signal }) =>
        listeners.onRequest(method, fieldsOf(params), signal).catch((error: unknown) => {
          throw error instanceof Refused ? new sdk.RequestError(error.code, error.message) : error;
        }),
      )
      .connect({ readable, writable });
    this.#lines = new JsonLines({
      name,
      process,
      clock,
      onLine: (text) => this.#receive(text),
      onEnd: (error) => {
        this.#waiting.fail(error);
        this.#sdk.close(error);
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

  /** Resolves with the answer; rejects with the error of the agent, after silence, or when the session ends. */
  async request(method: string, params: object, silenceMs: number, signal?: AbortSignal): Promise<Fields> {
    if (this.ended !== null) throw this.ended;
    this.#lastId += 1;
    const id = this.#lastId;
    const { answer, error } = await this.#waiting.wait(id, method, silenceMs, signal, () => {
      this.send(method, params).then(
        (answered) => this.#waiting.settle(id, { answer: answered }),
        (refused: unknown) => this.#waiting.settle(id, { error: refused }),
      );
    });
    if (error !== undefined) throw error;
    return fieldsOf(answer);
  }

  /** The same without a limit for silence: the turn has its own. */
  async send(method: string, params: object): Promise<Fields> {
    return fieldsOf(await this.#sdk.agent.request<unknown>(method, params));
  }

  notify(method: string, params: object): void {
    // A connection that has ended is reported by its end.
    this.#sdk.agent.notify(method, params).catch(() => {});
  }

  #write(message: AnyMessage): void {
    if ('method' in message && 'id' in message) this.#asked.add(message.id);
    this.#lines.write(message);
  }

  #receive(line: string): void {
    const { onSound, onGarbage, onNotification } = this.#listeners;
    onSound();
    const message = readMessage(line);
    if (message === null) {
      if (line.trim() !== '') onGarbage(line);
      return;
    }
    this.#waiting.touch();
    const { id } = message;
    const method = textOf(message.method);
    if (method !== null && id === undefined && method !== '$/cancel_request')
      onNotification(method, fieldsOf(message.params));
    else if (method !== null || this.#asked.delete(id)) this.#pass(message);
    else onGarbage(line);
  }

  #pass(message: Fields): void {
    // The SDK checks the shape of each message itself.
    this.#incoming?.enqueue({ ...message, jsonrpc: '2.0' } as AnyMessage);
  }
}

/** Null when a line is not a message: a request, an answer, or a notification. */
function readMessage(line: string): Fields | null {
  try {
    const value = parseJson(line);
    if (!isFields(value)) return null;
    const hasId = value.id === null || ['string', 'number'].includes(typeof value.id);
    if (typeof value.method === 'string') return hasId || value.id === undefined ? value : null;
    return hasId && ('result' in value || 'error' in value) ? value : null;
  } catch {
    return null;
  }
}

/** An error with which the agent answered a request. */
export interface AgentRefusal extends Error {
  readonly code: number;
  readonly data?: unknown;
}

export function isRefusal(error: unknown): error is AgentRefusal {
  return error instanceof Error && error.name === 'RequestError';
}
