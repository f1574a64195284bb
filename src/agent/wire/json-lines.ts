import { type Clock, sleep, within } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { LiveProcess } from '../../process/containment/live-process.ts';
import { eventLine } from '../event-line.ts';

export interface JsonLinesParts {
  /** The name of the agent, for people. */
  readonly name: string;
  readonly process: LiveProcess;
  readonly clock: Clock;
  readonly onLine: (text: string) => void;
  /** Nothing more will be read or written: the agent exited, or broke its protocol. Called once. */
  readonly onEnd: (error: BatonError) => void;
}

/**
 * Lines of one session that are read before other sessions get their turn. A higher number is faster for one session.
 */
const linesPerBatch = 100;
/** How long to wait for the end of the error output, which a process of the agent may keep open. */
const lastWordsMs = 500;
const shownTail = 2_048;
/** Characters that the agent has not read yet: more than any prompt with all the answers of a turn. */
const mostUnwritten = 32 * 1024 * 1024;

/**
 * A protocol over the standard streams of an agent's process: one JSON object a line. What must hold: a line longer
 * than any message ends the connection, because its content is lost; after the end nothing is read or written.
 */
export class JsonLines {
  readonly #parts: JsonLinesParts;
  readonly reading: Promise<void>;
  #unwritten = 0;
  #ended: BatonError | null = null;

  constructor(parts: JsonLinesParts) {
    this.#parts = parts;
    this.reading = this.#read();
  }

  /** Why the connection ended; null while it is open. */
  get ended(): BatonError | null {
    return this.#ended;
  }

  write(message: object): void {
    if (this.#ended !== null) return;
    const { name, process } = this.#parts;
    // A program that accepts no more input has ended or is about to; the reader notices and reports it.
    const line = `${JSON.stringify(message)}\n`;
    this.#unwritten += line.length;
    const written = (): void => {
      this.#unwritten -= line.length;
    };
    process.write(line).then(written, written);
    if (this.#unwritten <= mostUnwritten) return;
    this.#end(new BatonError('agent_protocol_error', `${name} sends requests but does not read the answers.`));
  }

  async #read(): Promise<void> {
    const { name, process, clock } = this.#parts;
    let lines = 0;
    for await (const line of process.lines) {
      try {
        if (this.#ended === null) this.#receive(line.text, line.truncated);
      } catch (cause) {
        // A defect of Baton, triggered by an unexpected message: this session ends, the daemon does not.
        this.#end(new BatonError('agent_protocol_error', `Baton failed to process a message of ${name}.`, { cause }));
      }
      lines += 1;
      // One piece of output may hold thousands of lines, and other sessions need the event loop.
      if (lines % linesPerBatch === 0) await sleep(clock, 0);
    }
    const exit = await process.exited;
    const how = exit.code === null ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`;
    // The exit may be known a moment before the last error output is read.
    await within(clock, lastWordsMs, process.stderrClosed);
    const stderr = process.stderrTail().trim().slice(-shownTail);
    const lastLine = eventLine(stderr.split('\n').at(-1) ?? '');
    const message = `${name} ${how} in the middle of its session${lastLine === '' ? '.' : `: ${lastLine}`}`;
    this.#end(
      new BatonError('agent_exited', message, { details: { exit_code: exit.code, signal: exit.signal, stderr } }),
    );
  }

  #receive(text: string, isTruncated: boolean): void {
    const { name, onLine } = this.#parts;
    const message = `${name} sent a line of more than ${text.length} characters, which cannot be a message.`;
    if (isTruncated) this.#end(new BatonError('agent_protocol_error', message));
    else onLine(text);
  }

  #end(error: BatonError): void {
    if (this.#ended !== null) return;
    this.#ended = error;
    this.#parts.onEnd(error);
  }
}
