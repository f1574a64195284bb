import type { TerminalStream } from '../../telemetry/log-terminal.ts';

/** So many lines are kept for whoever looks next; the log file has all. */
const mostKept = 200;
/** So many are shown to whoever comes from something else on the terminal. */
const mostShown = 10;

/**
 * The log of a daemon whose terminal shows something else: its lines are kept for that, and go to the terminal itself
 * when nothing else is shown there any more.
 */
export class LogTail {
  readonly #stream: TerminalStream;
  #lines: string[] = [];
  #last: string[] = [];
  #isShown = false;

  constructor(stream: TerminalStream) {
    this.#stream = stream;
  }

  /** What the log writes to. */
  get stream(): TerminalStream {
    const write: TerminalStream['write'] = (text, done) => {
      if (this.#isShown) return this.#stream.write(text, done);
      // Not before the caller has gone on, as a stream would.
      queueMicrotask(() => done());
      const lines = text.split('\n').filter(Boolean);
      this.#lines = [...this.#lines, ...lines].slice(-mostKept);
      this.#last = [...this.#last, ...lines].slice(-mostShown);
      return true;
    };
    return Object.create(this.#stream, { write: { value: write } });
  }

  /** What came since the last call. */
  take(): readonly string[] {
    const taken = this.#lines;
    this.#lines = [];
    return taken;
  }

  /** From now on the terminal is the log's: the last lines of it, then `words`, then whatever comes. */
  show(words: readonly string[] = []): void {
    if (this.#isShown) return;
    this.#isShown = true;
    for (const line of [...this.#last, ...words]) this.#stream.write(`${line}\n`, () => {});
  }
}
