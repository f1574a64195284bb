export interface OutputLine {
  /** Decoded as UTF-8 after framing, without its line end. */
  readonly text: string;
  /** The line was longer than the limit. The text is its beginning; the rest, up to the next newline, is dropped. */
  readonly truncated: boolean;
  /** False when no newline closed it: it was truncated, or the output ended in the middle of a line. */
  readonly complete: boolean;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const firstCapacityBytes = 64 * 1024;

/**
 * Cuts bytes into lines. Any chunking of the same bytes returns the same lines. It never holds more than one unfinished
 * line of at most `maxLineBytes`, in one buffer: agents write lines of up to 5 MB, and a program that writes byte by
 * byte must not cost an object per byte.
 */
export class LineFramer {
  readonly #maxLineBytes: number;
  #held = Buffer.alloc(0);
  #heldBytes = 0;
  #skipping = false;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  push(chunk: Buffer): OutputLine[] {
    const lines: OutputLine[] = [];
    for (let from = 0; from < chunk.length; ) {
      const at = chunk.indexOf(newline, from);
      const piece = chunk.subarray(from, at === -1 ? chunk.length : at);
      this.#take(piece, at !== -1, lines);
      from += piece.length + 1;
    }
    return lines;
  }

  /** The unfinished line at the end of the output, if any. */
  end(): OutputLine | null {
    const rest = this.#heldBytes > 0 ? { text: this.#release().toString(), truncated: false, complete: false } : null;
    this.#skipping = false;
    return rest;
  }

  #take(piece: Buffer, closed: boolean, lines: OutputLine[]): void {
    if (this.#skipping) {
      this.#skipping = !closed;
    } else if (this.#heldBytes + piece.length > this.#maxLineBytes) {
      // Reported now, not at the newline: the newline may never come, and this frees the memory.
      this.#hold(piece.subarray(0, this.#maxLineBytes - this.#heldBytes));
      lines.push({ text: withoutHalfCharacter(this.#release()).toString(), truncated: true, complete: false });
      this.#skipping = !closed;
    } else if (closed) {
      lines.push({ text: withoutCarriageReturn(this.#join(piece)).toString(), truncated: false, complete: true });
    } else {
      this.#hold(piece);
    }
  }

  #join(piece: Buffer): Buffer {
    if (this.#heldBytes === 0) return piece;
    this.#hold(piece);
    return this.#release();
  }

  #hold(piece: Buffer): void {
    const needed = this.#heldBytes + piece.length;
    if (needed > this.#held.length) {
      const doubled = Math.max(needed, this.#held.length * 2, firstCapacityBytes);
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(doubled, this.#maxLineBytes)));
      this.#held.copy(grown, 0, 0, this.#heldBytes);
      this.#held = grown;
    }
    piece.copy(this.#held, this.#heldBytes);
    this.#heldBytes = needed;
  }

  #release(): Buffer {
    const bytes = this.#held.subarray(0, this.#heldBytes);
    this.#heldBytes = 0;
    // Frees a buffer that has grown; keeps the first one for the next line.
    if (this.#held.length > firstCapacityBytes) this.#held = Buffer.alloc(0);
    return bytes;
  }
}

function withoutCarriageReturn(line: Buffer): Buffer {
  return line.at(-1) === carriageReturn ? line.subarray(0, -1) : line;
}

/** The limit counts bytes and may fall inside a character; half of one would decode to a replacement character. */
function withoutHalfCharacter(line: Buffer): Buffer {
  for (let back = 1; back <= Math.min(4, line.length); back++) {
    const byte = line[line.length - back] ?? 0;
    const isContinuation = (byte & 0b1100_0000) === 0b1000_0000;
    if (!isContinuation) return back < characterBytes(byte) ? line.subarray(0, -back) : line;
  }
  return line;
}

function characterBytes(leadByte: number): number {
  if (leadByte >= 0b1111_0000) return 4;
  if (leadByte >= 0b1110_0000) return 3;
  return leadByte >= 0b1100_0000 ? 2 : 1;
}
