import type { Readable } from 'node:stream';
import { type Clock, timedOut, within } from '../../clock/clock.ts';

/** How long to wait, in total, for more output after the child has exited: a grandchild may keep the pipe open. */
const drainAfterExitMs = 1000;

/** How much output to read after the exit: several times the size of a pipe. Anything more comes from a grandchild. */
const drainAfterExitBytes = 1024 * 1024;

/**
 * The bytes of a child's output, pulled one chunk at a time. While no reader pulls, the pipe fills and the child
 * waits, so a slow reader costs no memory. The output ends at the end of the pipe or, after the exit of the child, when
 * one of the two limits above is reached.
 */
export class OutputChunks {
  readonly #stream: Readable;
  readonly #clock: Clock;
  #wake = Promise.withResolvers<void>();
  #ended = false;
  #exited = false;
  #discarding = false;
  #drainMsLeft = drainAfterExitMs;
  #drainBytesLeft = drainAfterExitBytes;
  #pulled = false;

  constructor(stream: Readable, exited: Promise<unknown>, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
    // Never remove this listener: without it, Node discards unread output when the child exits.
    stream.on('readable', () => this.#look());
    for (const event of ['end', 'close', 'error']) stream.on(event, () => this.#finish());
    void exited.then(() => {
      this.#exited = true;
      this.#look();
    });
  }

  /** The next bytes, or null at the end. */
  async next(): Promise<Buffer | null> {
    this.#pulled = true;
    while (!this.#discarding) {
      this.#wake = Promise.withResolvers();
      const chunk: Buffer | null = this.#stream.read();
      if (chunk !== null) return this.#withinDrain(chunk);
      if (this.#ended || !(await this.#moreComes())) break;
    }
    this.discard();
    return null;
  }

  /** From now on reads and discards the output, so that a child without a reader can continue and end. */
  discard(): void {
    this.#discarding = true;
    this.#look();
  }

  /** `discard` for output that was never pulled. */
  discardIfUnread(): void {
    if (!this.#pulled) this.discard();
  }

  #look(): void {
    if (this.#discarding) {
      while (this.#stream.read() !== null);
      if (this.#exited) this.#stream.destroy();
    }
    this.#wake.resolve();
  }

  #finish(): void {
    this.#ended = true;
    this.#wake.resolve();
  }

  #withinDrain(chunk: Buffer): Buffer | null {
    if (!this.#exited) return chunk;
    this.#drainBytesLeft -= chunk.length;
    if (this.#drainBytesLeft >= 0) return chunk;
    this.discard();
    return null;
  }

  async #moreComes(): Promise<boolean> {
    if (!this.#exited) {
      await this.#wake.promise;
      return true;
    }
    const before = this.#clock.monotonic();
    const outcome = await within(this.#clock, this.#drainMsLeft, this.#wake.promise);
    this.#drainMsLeft -= this.#clock.monotonic() - before;
    return outcome !== timedOut && this.#drainMsLeft > 0;
  }
}
