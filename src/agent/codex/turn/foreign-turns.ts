import { type Clock, within } from '../../../clock/clock.ts';
import type { EventSink } from '../../wire/event-sink.ts';
import { type CodexConnection, CodexRefusal } from '../wire/connection.ts';

/** More turns than any agent runs at once. */
const mostLive = 100;
/** Limit for the thread id and the turn id together; longer ones are not real ids. */
const longestNames = 512;

interface ForeignTurn {
  readonly turnId: string;
  readonly over: PromiseWithResolvers<void>;
}

export interface ForeignTurnsParts {
  readonly clock: Clock;
  readonly events: EventSink;
  readonly connection: () => CodexConnection;
  /** How long an interrupted turn has to end. */
  readonly waitMs: number;
}

/**
 * Turns that Baton did not begin: turns of helpers that the agent started, and turns of the thread itself when Codex
 * continues without being asked. They cost what any turn costs, and no limit of Baton covers them. What must hold:
 * while no turn of Baton runs, each of them is interrupted; while one runs, only helpers may work.
 */
export class ForeignTurns {
  readonly #parts: ForeignTurnsParts;
  /** By thread id: a thread has one turn at a time. */
  readonly #live = new Map<string, ForeignTurn>();
  #ending: Promise<void> | null = null;

  constructor(parts: ForeignTurnsParts) {
    this.#parts = parts;
  }

  get isEmpty(): boolean {
    return this.#live.size === 0;
  }

  /** Whether such a turn runs in this thread: then Codex would add a new prompt to it. */
  isIn(threadId: string): boolean {
    return this.#live.has(threadId);
  }

  /** Follows a frame about a turn that Baton did not begin; `mayWork` says whether that turn may continue for now. */
  follow(method: string, threadId: string | null, turnId: string | null, mayWork: boolean): void {
    if (threadId === null) return;
    if (ending.has(method)) this.#forget(threadId, turnId);
    if (method !== 'turn/started' || turnId === null || this.#live.get(threadId)?.turnId === turnId) return;
    this.#forget(threadId, null);
    if (this.#live.size >= mostLive || threadId.length + turnId.length > longestNames) return;
    this.#live.set(threadId, { turnId, over: Promise.withResolvers() });
    if (mayWork) return;
    const payload = { threadId, turnId };
    this.#parts.events.emit('notification', 'Codex started a turn by itself; Baton interrupts it', { payload });
    void this.endAll();
  }

  /** Ends the live turns and waits for that, up to a limit. Concurrent calls share one pass. */
  endAll(): Promise<void> {
    this.#ending ??= this.#endAll().finally(() => {
      this.#ending = null;
    });
    return this.#ending;
  }

  /** Ends the commands that a turn left running. An older Codex cannot do it; then ending the process has to do. */
  async cleanTerminals(threadId: string | null): Promise<void> {
    const connection = this.#parts.connection();
    if (threadId === null || connection.ended !== null) return;
    await connection.request('thread/backgroundTerminals/clean', { threadId }, this.#parts.waitMs).catch(() => {});
  }

  /** Codex is gone, and its turns with it. */
  clear(): void {
    for (const threadId of [...this.#live.keys()]) this.#forget(threadId, null);
  }

  async #endAll(): Promise<void> {
    const limit = new AbortController();
    const timer = this.#parts.clock.schedule(this.#parts.waitMs, () => limit.abort());
    // Another turn may begin while one is ended.
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
      // A turn that has already ended is refused, which is just as good. The next pass ends what did not end in time.
      if (error instanceof CodexRefusal) this.#forget(threadId, turnId);
    }
  }

  /** With `turnId` null, forgets any turn of the thread. */
  #forget(threadId: string, turnId: string | null): void {
    const live = this.#live.get(threadId);
    if (live === undefined || (turnId !== null && live.turnId !== turnId)) return;
    this.#live.delete(threadId);
    live.over.resolve();
  }
}

const ending: ReadonlySet<string> = new Set(['turn/completed', 'turn/failed', 'turn/cancelled']);
