import type { Clock } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { SilenceTimer } from '../silence-timer.ts';
import type { Fields } from './fields.ts';

/** Requests to an agent that wait for an answer. Each settles: by its answer, by silence, by its signal, or by `fail`. */
export class AwaitedAnswers<Id> {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #waiting = new Map<
    Id,
    { settle: (answer: Fields) => void; fail: (error: Error) => void; silence: SilenceTimer }
  >();

  /** `name` is that of the agent, for people. */
  constructor(name: string, clock: Clock) {
    this.#name = name;
    this.#clock = clock;
  }

  has(id: Id): boolean {
    return this.#waiting.has(id);
  }

  /** Calls `send`, and resolves with the answer. Rejects with `agent_turn_timeout` after `silenceMs` without a message. */
  async wait(
    id: Id,
    method: string,
    silenceMs: number,
    signal: AbortSignal | undefined,
    send: () => void,
  ): Promise<Fields> {
    signal?.throwIfAborted();
    const { promise, resolve: settle, reject: fail } = Promise.withResolvers<Fields>();
    const silence = new SilenceTimer(this.#clock, silenceMs, () => {
      const message = `${this.#name} did not answer ${method} and said nothing for ${silenceMs} ms.`;
      fail(new BatonError('agent_turn_timeout', message, { details: { method, silence_ms: silenceMs } }));
    });
    const onAbort = (): void => fail(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#waiting.set(id, { settle, fail, silence });
    try {
      send();
      return await promise;
    } finally {
      silence.cancel();
      signal?.removeEventListener('abort', onAbort);
      this.#waiting.delete(id);
    }
  }

  settle(id: Id, answer: Fields): void {
    this.#waiting.get(id)?.settle(answer);
  }

  /** The agent sent a message. */
  touch(): void {
    for (const { silence } of this.#waiting.values()) silence.touch();
  }

  fail(error: Error): void {
    for (const { fail } of this.#waiting.values()) fail(error);
  }
}
