import { type Clock, timedOut, within } from '../../clock/clock.ts';
import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import { type RoomLeft, whyNoRoom } from '../../core/dispatch/headroom.ts';
import type { Logger } from '../../core/logger.ts';
import type { Settings } from '../../core/settings.ts';
import type { WorkflowSource } from '../../core/workflow.ts';

/** So long a reading serves everybody. */
const freshMs = 1_000;
/** A file system that does not answer within this time is one that nothing is known of. */
const patienceMs = 1_000;

interface HeadroomWatchParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly source: WorkflowSource;
  readonly roomLeft: (settings: Settings) => Promise<RoomLeft>;
  readonly onRoomAgain: () => void;
}

/**
 * What is known of the free disk and memory. There is one reading at a time and all share it. Whoever is about to start
 * something waits for it, but not for long: a hung file system holds up a start for a moment, never a tick, and what is
 * not known refuses nothing.
 */
export class HeadroomWatch {
  readonly #parts: HeadroomWatchParts;
  #left: RoomLeft | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: { readonly done: Promise<void>; readonly since: number } | null = null;
  #wasTight = false;
  #isDeaf = false;

  constructor(parts: HeadroomWatchParts) {
    this.#parts = parts;
  }

  /** Why nothing new may start for want of room, by the last reading and the settings of now. */
  whyNone(): SkipReason | null {
    return this.#left && whyNoRoom(this.#left, this.#parts.source.read().workflow.settings);
  }

  /** Resolves when there is a fresh reading, or none to be had soon. Never rejects. */
  async look(): Promise<void> {
    const { clock } = this.#parts;
    const now = clock.monotonic();
    if (this.#reading === null) {
      if (now - this.#readAt < freshMs) return;
      // Not at once: a reading that fails at once would be over before it is noted.
      this.#reading = { done: Promise.resolve().then(() => this.#read()), since: now };
    }
    const { done, since } = this.#reading;
    const patience = since + patienceMs - now;
    if (patience > 0 && (await within(clock, patience, done)) !== timedOut) return;
    this.#giveUp('it does not answer');
  }

  async #read(): Promise<void> {
    const { clock, source, roomLeft } = this.#parts;
    try {
      this.#left = await roomLeft(source.read().workflow.settings);
      this.#isDeaf = false;
    } catch (error) {
      this.#giveUp(error);
    } finally {
      this.#readAt = clock.monotonic();
      this.#reading = null;
    }
    this.#tell();
  }

  #giveUp(error: unknown): void {
    this.#left = null;
    if (!this.#isDeaf) {
      this.#isDeaf = true;
      this.#parts.logger.warn('headroom_unreadable', { error });
    }
    this.#tell();
  }

  /** Says so once when room ends, and once when there is some again. */
  #tell(): void {
    const why = this.whyNone();
    if ((why !== null) === this.#wasTight) return;
    this.#wasTight = why !== null;
    const { logger, onRoomAgain } = this.#parts;
    if (why === null) {
      logger.info('headroom_back');
      onRoomAgain();
    } else logger.warn('headroom_low', { why: why.text });
  }
}
