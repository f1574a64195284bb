import type { Clock, Timer } from '../clock/clock.ts';

/**
 * The longest time a turn may take (`agent.turn_wall_time_ms`; 0 means no limit). Time in which the run waits for a
 * person does not count.
 */
export class TurnLimit {
  readonly #clock: Clock;
  readonly #limitMs: number;
  #turn: { readonly over: AbortController; leftMs: number } | null = null;
  #running: { readonly timer: Timer; readonly since: number } | null = null;
  #pauses = 0;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  /** A turn begins; the signal aborts when the turn has taken too long. */
  begin(): AbortSignal {
    const over = new AbortController();
    this.#turn = { over, leftMs: this.#limitMs };
    this.#run();
    return over.signal;
  }

  end(): void {
    this.#hold();
    this.#turn = null;
  }

  /** The run waits for a person from this call on. Returns the function that ends the pause. */
  pause(): () => void {
    this.#pauses += 1;
    this.#hold();
    let isPaused = true;
    return () => {
      if (!isPaused) return;
      isPaused = false;
      this.#pauses -= 1;
      this.#run();
    };
  }

  #run(): void {
    const turn = this.#turn;
    if (turn === null || this.#limitMs <= 0 || this.#pauses > 0 || this.#running !== null) return;
    const timer = this.#clock.schedule(turn.leftMs, () => turn.over.abort());
    this.#running = { timer, since: this.#clock.monotonic() };
  }

  #hold(): void {
    if (this.#running === null) return;
    this.#running.timer.cancel();
    if (this.#turn !== null) this.#turn.leftMs -= this.#clock.monotonic() - this.#running.since;
    this.#running = null;
  }
}
