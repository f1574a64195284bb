import type { Logger } from '../core/logger.ts';
import type { Limiter } from './limiter.ts';

/** A door that a service closed. */
export interface KeptDoor {
  readonly provider: string;
  /** What the credential is recognised by; never itself. */
  readonly credential: string;
  /** Wall time; 0 for one that has opened. */
  readonly until: number;
}

/** Where closed doors are written down, so that the next life knows them. */
export interface DoorMemory {
  load(): Promise<readonly KeptDoor[]>;
  save(door: KeptDoor): Promise<void>;
}

/** A door that opens by so much earlier than was written down does so because somebody set the clock back. */
const clockWasSetMs = 60_000;

interface WatchedDoor extends Omit<KeptDoor, 'until'> {
  readonly limiter: Limiter;
  /** What the memory has for it, as far as is known here; 0 for nothing. */
  keptUntil: number;
  isRecalled: boolean;
}

/**
 * Keeps closed doors over restarts: a service that refuses for an hour is not asked again by every life. What must hold:
 *
 * - What was written down is taken in once. From then on the limiter knows better, by both clocks.
 * - One thing is done at a time, so that the last word is the one that stays.
 * - A memory that fails is told once and tried again with the next call; it keeps nobody from anything.
 */
export class KeptDoors {
  readonly #memory: DoorMemory;
  readonly #logger: Logger;
  readonly #doors: WatchedDoor[] = [];
  #lastTurn: Promise<void> = Promise.resolve();
  #isFailing = false;

  constructor(memory: DoorMemory, logger: Logger) {
    this.#memory = memory;
    this.#logger = logger;
  }

  watch(limiter: Limiter, { provider, credential }: Pick<KeptDoor, 'provider' | 'credential'>): void {
    if (this.#doors.some((door) => door.limiter === limiter)) return;
    this.#doors.push({ provider, credential, limiter, keptUntil: 0, isRecalled: false });
  }

  /** Closes the doors that an earlier life found closed. Resolves when that is done, or has failed. */
  recall(): Promise<void> {
    if (!this.#doors.some(isUnknown)) return this.#lastTurn;
    return this.#inTurn(async () => {
      const unknown = this.#doors.filter(isUnknown);
      if (unknown.length === 0) return;
      const kept = await this.#memory.load();
      for (const door of unknown) recallFrom(kept, door);
    });
  }

  /** Writes down which doors closed and opened since. Resolves when that is done, or has failed. */
  keep(): Promise<void> {
    if (!this.#doors.some(isNews)) return this.#lastTurn;
    return this.#inTurn(async () => {
      for (const door of this.#doors.filter(isNews)) {
        const { provider, credential } = door;
        const until = untilOf(door);
        await this.#memory.save({ provider, credential, until });
        door.keptUntil = until;
      }
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = async (): Promise<void> => {
      try {
        await work();
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) this.#logger.warn('retry_after_not_saved', { error });
        this.#isFailing = true;
      }
    };
    this.#lastTurn = this.#lastTurn.then(turn);
    return this.#lastTurn;
  }
}

function isUnknown({ isRecalled }: WatchedDoor): boolean {
  return !isRecalled;
}

function recallFrom(kept: readonly KeptDoor[], door: WatchedDoor): void {
  door.isRecalled = true;
  // What is written down by now is our own word.
  if (door.keptUntil !== 0) return;
  const found = kept.find(({ provider, credential }) => provider === door.provider && credential === door.credential);
  if (found === undefined) return;
  door.keptUntil = found.until;
  door.limiter.stayClosed(found.until);
}

function isNews(door: WatchedDoor): boolean {
  const until = untilOf(door);
  if (until === 0 || door.keptUntil === 0) return until !== door.keptUntil;
  return until > door.keptUntil || until < door.keptUntil - clockWasSetMs;
}

function untilOf({ limiter }: WatchedDoor): number {
  return Math.ceil(limiter.closedUntil() ?? 0);
}
