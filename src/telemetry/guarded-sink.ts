import type { Clock } from '../clock/clock.ts';
import type { LogEvent } from '../core/log-events.ts';
import type { LogFields } from '../core/logger.ts';

/** A destination of lines: the file, the terminal. */
export interface LogSink {
  /** The name of the sink in log entries about its failure. */
  readonly name: string;
  /** Takes one JSON line with its line feed. Never throws: `done` reports, at once or later, whether it was written. */
  write(line: string, done: (error: unknown) => void): void;
  close(): Promise<void>;
}

export interface GuardedSinkOptions {
  readonly clock: Clock;
  readonly retryAfterMs: number;
  /** Makes a line about the log itself. */
  notice(event: LogEvent, fields: LogFields): string;
  /** Reports to the other sinks. */
  report(event: LogEvent, fields: LogFields): void;
}

/**
 * A sink whose failure only loses its own lines and writes one warning to the other sinks.
 *
 *   well ──a line fails: one warning on the other sinks──► failing ──a line after `retryAfterMs`──► trying
 *   trying ──it is written, after the number of lost lines──► well
 *   trying ──it fails: no warning──► failing
 *
 * While failing, lines are dropped and counted: the log must not stop the daemon or fill its memory.
 */
export class GuardedSink {
  readonly #sink: LogSink;
  readonly #options: GuardedSinkOptions;
  /** Monotonic time before which a failing sink is not tried; null: well, or trying. */
  #notBefore: number | null = null;
  #isReported = false;
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

  /** Writes how many lines are missing here; returns false when that failed at once, too. */
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
      else if (this.#notBefore === null) this.#isReported = false;
    });
  }

  #onFailure(error: unknown, worth: number): void {
    const { clock, retryAfterMs, report } = this.#options;
    this.#lost += worth;
    this.#notBefore = clock.monotonic() + retryAfterMs;
    if (this.#isReported) return;
    this.#isReported = true;
    report('log_sink_failed', { sink: this.#sink.name, error });
  }
}
