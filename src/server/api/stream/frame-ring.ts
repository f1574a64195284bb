/** One event as it is sent, with its number. */
export interface Frame {
  readonly number: number;
  readonly text: string;
}

export interface RingLimits {
  readonly mostFrames: number;
  readonly mostChars: number;
}

/** The last events, for listeners that missed them. Both limits bound the memory; the newest event always stays. */
export class FrameRing {
  readonly #limits: RingLimits;
  #frames: Frame[] = [];
  #chars = 0;

  constructor(limits: RingLimits) {
    this.#limits = limits;
  }

  add(frame: Frame): void {
    this.#frames.push(frame);
    this.#chars += frame.text.length;
    let gone = 0;
    while (
      gone < this.#frames.length - 1 &&
      (this.#frames.length - gone > this.#limits.mostFrames || this.#chars > this.#limits.mostChars)
    ) {
      this.#chars -= this.#frames[gone]?.text.length ?? 0;
      gone += 1;
    }
    if (gone > 0) this.#frames = this.#frames.slice(gone);
  }

  /** The events after a number; null when some of them are gone, or the number was never used. */
  after(number: number, newest: number): readonly Frame[] | null {
    if (number === newest) return [];
    const first = this.#frames[0];
    if (first === undefined || number > newest || number < first.number - 1) return null;
    return this.#frames.slice(number - first.number + 1);
  }
}
