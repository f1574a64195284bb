import { type Clock, timedOut, within } from '../../clock/clock.ts';
import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import { type Headroom, whyNoHeadroom } from '../../core/dispatch/headroom.ts';
import type { Logger } from '../../core/logger.ts';
import type { Settings } from '../../core/settings.ts';
import type { WorkflowSource } from '../../core/workflow.ts';

/** Callers share a reading that is younger than this. */
const freshMs = 1_000;
/** When a file system does not answer within this time, its free space is unknown. */
const readTimeoutMs = 1_000;

interface HeadroomWatchParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly source: WorkflowSource;
  readonly readHeadroom: (settings: Settings) => Promise<Headroom>;
  readonly onHeadroomBack: () => void;
}

/**
 * The last reading of free disk and memory. One reading runs at a time and all callers share it. A start waits for it,
 * but at most `readTimeoutMs`: a hung file system delays a start for a moment, never a tick. An unknown value refuses
 * nothing.
 */
export class HeadroomWatch {
  readonly #parts: HeadroomWatchParts;
  #left: Headroom | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: { readonly done: Promise<void>; readonly since: number } | null = null;
  #wasLow = false;
  #isUnreadable = false;

  constructor(parts: HeadroomWatchParts) {
    this.#parts = parts;
  }

  /** Why nothing new may start for lack of disk or memory, by the last reading and the current settings. */
  whyNone(): SkipReason | null {
    return this.#left && whyNoHeadroom(this.#left, this.#parts.source.read().workflow.settings);
  }

  /** Resolves when there is a fresh reading, or when none will come soon. Never rejects. */
  async refresh(): Promise<void> {
    const { clock } = this.#parts;
    const now = clock.monotonic();
    if (this.#reading === null) {
      if (now - this.#readAt < freshMs) return;
      // Starts in a later microtask: a read that fails at once would clear `#reading` before it is set.
      this.#reading = { done: Promise.resolve().then(() => this.#read()), since: now };
    }
    const { done, since } = this.#reading;
    const patience = since + readTimeoutMs - now;
    if (patience > 0 && (await within(clock, patience, done)) !== timedOut) return;
    this.#giveUp('it does not answer');
  }

  async #read(): Promise<void> {
    const { clock, source, readHeadroom } = this.#parts;
    try {
      this.#left = await readHeadroom(source.read().workflow.settings);
      this.#isUnreadable = false;
    } catch (error) {
      this.#giveUp(error);
    } finally {
      this.#readAt = clock.monotonic();
      this.#reading = null;
    }
    this.#logChange();
  }

  #giveUp(error: unknown): void {
    this.#left = null;
    if (!this.#isUnreadable) {
      this.#isUnreadable = true;
      this.#parts.logger.warn('headroom_unreadable', { error });
    }
    this.#logChange();
  }

  /** Logs once when headroom runs out, and once when it is back. */
  #logChange(): void {
    const why = this.whyNone();
    if ((why !== null) === this.#wasLow) return;
    this.#wasLow = why !== null;
    const { logger, onHeadroomBack } = this.#parts;
    if (why === null) {
      logger.info('headroom_back');
      onHeadroomBack();
    } else logger.warn('headroom_low', { why: why.text });
  }
}
