import type { OrchestratorContext } from './context.ts';
import { type PollError, poll } from './poll.ts';

/** One poll at a time, beside the ticks: who asks while one is under way gets another right after it. */
export class Poller {
  readonly #context: OrchestratorContext;
  #isPolling = false;
  #isWanted = false;
  #errors: readonly PollError[] = [];

  constructor(context: OrchestratorContext) {
    this.#context = context;
  }

  get isPolling(): boolean {
    return this.#isPolling;
  }

  /** What the last poll found wrong. */
  get errors(): readonly PollError[] {
    return this.#errors;
  }

  /** Something changed that an answer under way may not show. */
  want(): void {
    this.#isWanted = true;
  }

  /** Begins a poll, unless one is under way: that one serves. */
  begin(): void {
    if (this.#isPolling) return;
    this.#isPolling = true;
    this.#isWanted = false;
    this.#context.own('poll', this.#poll());
  }

  async #poll(): Promise<void> {
    try {
      this.#errors = await poll(this.#context);
    } finally {
      this.#isPolling = false;
      this.#context.notify();
      if (this.#isWanted) this.#context.requestTick();
    }
  }
}
