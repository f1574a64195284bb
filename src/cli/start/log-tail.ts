import { stripVTControlCharacters } from 'node:util';
import type { TerminalStream } from '../../telemetry/log-terminal.ts';

/** The most lines kept for the view; the log file has all. */
const mostKept = 200;
/** The most lines shown when the terminal changes from the view to the log. */
const mostShown = 10;

/**
 * The log of a daemon whose terminal shows a view. Its lines are kept for the view, and go to the terminal once the
 * view has ended.
 */
export class LogTail {
  readonly #stream: TerminalStream;
  #lines: string[] = [];
  #last: string[] = [];
  #isShown = false;

  constructor(stream: TerminalStream) {
    this.#stream = stream;
  }

  /** The stream that the log writes to. */
  get stream(): TerminalStream {
    const write: TerminalStream['write'] = (text, done) => {
      if (this.#isShown) return this.#stream.write(text, done);
      // A stream calls back only after `write` has returned.
      queueMicrotask(() => done());
      const lines = text.split('\n').filter(Boolean);
      // The view shows foreign text with every control visible, and would show our colours so.
      this.#lines = [...this.#lines, ...lines.map(stripVTControlCharacters)].slice(-mostKept);
      this.#last = [...this.#last, ...lines].slice(-mostShown);
      return true;
    };
    return Object.create(this.#stream, { write: { value: write } });
  }

  /** The lines since the last call. */
  take(): readonly string[] {
    const taken = this.#lines;
    this.#lines = [];
    return taken;
  }

  /** From now on the terminal shows the log: its last lines, then `words`, then new lines. */
  show(words: readonly string[] = []): void {
    if (this.#isShown) return;
    this.#isShown = true;
    for (const line of [...this.#last, ...words]) this.#stream.write(`${line}\n`, () => {});
  }
}
