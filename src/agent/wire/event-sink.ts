import type { Clock } from '../../clock/clock.ts';
import type { AgentEvent, AgentEventName, TurnResult } from '../agent.ts';
import { eventLine } from '../event-line.ts';

type EventExtras = Pick<AgentEvent, 'usage' | 'quota' | 'payload'>;

/** Most events that wait for the session to be ready. */
const mostWaiting = 256;
const longestRead = 4_096;

/**
 * Emits the events of a session in order. What must hold: `session_started` (or `startup_failed`) is the first, so
 * earlier events wait for it; times never decrease; after `close` no event is emitted.
 */
export class EventSink {
  readonly #clock: Clock;
  readonly #pid: number;
  readonly #onEvent: (event: AgentEvent) => void;
  #waiting: (() => void)[] | null = [];
  #isClosed = false;

  constructor(clock: Clock, pid: number, onEvent: (event: AgentEvent) => void) {
    this.#clock = clock;
    this.#pid = pid;
    this.#onEvent = onEvent;
  }

  emit(name: AgentEventName, summary: string, extras: EventExtras = {}): void {
    if (this.#waiting === null) this.#pass(name, summary, extras);
    else if (this.#waiting.length < mostWaiting) this.#waiting.push(() => this.#pass(name, summary, extras));
  }

  /** Emits the first event, then those that waited for it. */
  open(name: 'session_started' | 'startup_failed', summary: string, extras: EventExtras = {}): void {
    const waited = this.#waiting ?? [];
    this.#waiting = null;
    this.#pass(name, summary, extras);
    for (const pass of waited) pass();
  }

  close(): void {
    this.#isClosed = true;
  }

  #pass(name: AgentEventName, summary: string, extras: EventExtras): void {
    if (this.#isClosed) return;
    // A message may have megabytes; only its beginning is shown, so only the beginning is made harmless.
    const shown = eventLine(summary.slice(0, longestRead));
    this.#onEvent({ name, at: this.#clock.now(), pid: this.#pid, summary: shown, ...extras });
  }
}

/** Reports the end of a turn: `turn_failed` when a frame said so, `turn_ended_with_error` when none did. */
export function emitTurnEnd(events: EventSink, result: TurnResult, payload: unknown): void {
  const [name, summary] = endEvent(result, payload !== undefined);
  events.emit(name, summary, payload === undefined ? {} : { payload });
}

/** The event that ends a turn, and its line for people. */
export function endEvent(result: TurnResult, isAgentsWord: boolean): [AgentEventName, string] {
  switch (result.status) {
    case 'completed':
      return ['turn_completed', result.message ?? 'turn completed'];
    case 'cancelled':
      return ['turn_cancelled', 'turn cancelled'];
    case 'input_required':
      return ['turn_input_required', result.question];
    case 'failed':
      return [isAgentsWord ? 'turn_failed' : 'turn_ended_with_error', result.error.message];
  }
}
