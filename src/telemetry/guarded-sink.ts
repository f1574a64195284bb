import type { Clock } from '../clock/clock.ts';
import type { LogEvent } from '../core/log-events.ts';
import type { LogFields } from '../core/logger.ts';

/** A destination of lines: the file, the terminal. */
export interface LogSink {
  /** As the log names it when it fails. */
  readonly name: string;
  /** Takes one JSON line with its line feed. Never throws: `done` says, at once or later, whether it got through. */
  write(line: string, done: (error: unknown) => void): void;
  close(): Promise<void>;
}

export interface GuardedSinkOptions {
  readonly clock: Clock;
  readonly retryAfterMs: number;
  /** Makes a line about the log itself. */
  notice(event: LogEvent, fields: LogFields): string;
  /** Tells the other sinks. */
  tell(event: LogEvent, fields: LogFields): void;
}

/**
 * A sink whose failure costs its lines and one warning on the other sinks.
 *
 *   well ──a line fails: one warning on the other sinks──► failing ──a line after `retryAfterMs`──► trying
 *   trying ──it gets through, after the count of the lost ones──► well
 *   trying ──it fails: no warning──► failing
 *
 * While failing, lines are dropped and counted: a daemon must not stop, and must not fill its memory, for its log.
 */
export class GuardedSink {
  readonly #sink: LogSink;
  readonly #options: GuardedSinkOptions;
  /** Monotonic time before which a failing sink is not tried; null: well, or trying. */
  #notBefore: number | null = null;
  #isTold = false;
  #lost = 0;

  constructor(sink: LogSink, options: GuardedSinkOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  write(line: string): void {
    if (this.#mustWait()) this.#lost += 1;
    else if (this.#reportLoss()) this.#deliver(line, 1);
    else this.#lost += 1;
  }

  async close(): Promise<void> {
    this.#reportLoss();
    await this.#sink.close();
  }

  #mustWait(): boolean {
    return this.#notBefore !== null && this.#options.clock.monotonic() < this.#notBefore;
  }

  /** Writes how many lines are missing here; false when that, too, failed at once. */
  #reportLoss(): boolean {
    this.#notBefore = null;
    const lost = this.#lost;
    if (lost === 0) return true;
    this.#lost = 0;
    this.#deliver(this.#options.notice('log_lines_lost', { sink: this.#sink.name, lost_lines: lost }), lost);
    return this.#notBefore === null;
  }

  #deliver(line: string, worth: number): void {
    this.#sink.write(line, (error) => {
      if (error != null) this.#onFailure(error, worth);
      else if (this.#notBefore === null) this.#isTold = false;
    });
  }

  #onFailure(error: unknown, worth: number): void {
    const { clock, retryAfterMs, tell } = this.#options;
    this.#lost += worth;
    this.#notBefore = clock.monotonic() + retryAfterMs;
    if (this.#isTold) return;
    this.#isTold = true;
    tell('log_sink_failed', { sink: this.#sink.name, error });
  }
}
