import { type Clock, within } from '../../../clock/clock.ts';
import { type CodexConnection, CodexRefusal } from '../wire/connection.ts';
import type { EventTeller } from './event-teller.ts';

/** More than any agent has at work at once. */
const mostLive = 100;
/** Of the names of a thread and a turn together; longer ones are none. */
const longestNames = 512;

interface ForeignTurn {
  readonly turnId: string;
  readonly over: PromiseWithResolvers<void>;
}

export interface ForeignTurnsParts {
  readonly clock: Clock;
  readonly teller: EventTeller;
  readonly connection: () => CodexConnection;
  /** How long a turn that is interrupted has to end. */
  readonly waitMs: number;
}

/**
 * Turns that Baton did not begin: of helpers that the agent started, and of the thread itself when Codex goes on without
 * being asked. They cost what any turn costs, and no limit of ours sees them. What must hold: while no turn of ours runs,
 * each of them is told to end; while ours runs, only helpers may be at work.
 */
export class ForeignTurns {
  readonly #parts: ForeignTurnsParts;
  /** By the thread they are in: a thread has one turn at a time. */
  readonly #live = new Map<string, ForeignTurn>();
  #ending: Promise<void> | null = null;

  constructor(parts: ForeignTurnsParts) {
    this.#parts = parts;
  }

  get isEmpty(): boolean {
    return this.#live.size === 0;
  }

  /** Whether Codex is at one in this thread: it would take a prompt as a word to it. */
  isIn(threadId: string): boolean {
    return this.#live.has(threadId);
  }

  /** A word about a turn that is not ours, as far as it is one; `mayWork` says whether it may go on for now. */
  follow(method: string, threadId: string | null, turnId: string | null, mayWork: boolean): void {
    if (threadId === null) return;
    if (ending.has(method)) this.#forget(threadId, turnId);
    if (method !== 'turn/started' || turnId === null || this.#live.get(threadId)?.turnId === turnId) return;
    this.#forget(threadId, null);
    if (this.#live.size >= mostLive || threadId.length + turnId.length > longestNames) return;
    this.#live.set(threadId, { turnId, over: Promise.withResolvers() });
    if (mayWork) return;
    const payload = { threadId, turnId };
    this.#parts.teller.tell('notification', 'Codex began a turn that nobody asked for; it is interrupted', { payload });
    void this.endAll();
  }

  /** Ends those that are at work, and waits for it, but not for long. One pass at a time, however often it is called. */
  endAll(): Promise<void> {
    this.#ending ??= this.#endAll().finally(() => {
      this.#ending = null;
    });
    return this.#ending;
  }

  /** Ends the commands that a turn left running. An older Codex does not know it; then the end of the process has to do. */
  async cleanTerminals(threadId: string | null): Promise<void> {
    const connection = this.#parts.connection();
    if (threadId === null || connection.ended !== null) return;
    await connection.request('thread/backgroundTerminals/clean', { threadId }, this.#parts.waitMs).catch(() => {});
  }

  /** Codex is gone, and they with it. */
  clear(): void {
    for (const threadId of [...this.#live.keys()]) this.#forget(threadId, null);
  }

  async #endAll(): Promise<void> {
    const limit = new AbortController();
    const timer = this.#parts.clock.schedule(this.#parts.waitMs, () => limit.abort());
    // While one is ended, another may have begun.
    while (this.#live.size > 0 && !limit.signal.aborted && this.#parts.connection().ended === null)
      await Promise.all([...this.#live].map(([threadId, live]) => this.#end(threadId, live, limit.signal)));
    timer.cancel();
  }

  async #end(threadId: string, { turnId, over }: ForeignTurn, signal: AbortSignal): Promise<void> {
    const { clock, connection, waitMs } = this.#parts;
    try {
      await connection().request('turn/interrupt', { threadId, turnId }, 2 * waitMs, signal);
      await within(clock, waitMs, over.promise);
      await this.cleanTerminals(threadId);
    } catch (error) {
      // One that has ended meanwhile is refused, and that is as good. What did not end in time is for the next pass.
      if (error instanceof CodexRefusal) this.#forget(threadId, turnId);
    }
  }

  /** `turnId` null: whichever it is. */
  #forget(threadId: string, turnId: string | null): void {
    const live = this.#live.get(threadId);
    if (live === undefined || (turnId !== null && live.turnId !== turnId)) return;
    this.#live.delete(threadId);
    live.over.resolve();
  }
}

const ending: ReadonlySet<string> = new Set(['turn/completed', 'turn/failed', 'turn/cancelled']);
