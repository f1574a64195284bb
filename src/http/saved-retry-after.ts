import type { Logger } from '../core/logger.ts';
import type { Limiter } from './limiter.ts';

/** A refusal of a service, as it is stored. */
export interface SavedRefusal {
  readonly provider: string;
  /** A digest of the credential, never the credential itself. */
  readonly credential: string;
  /** Wall time; 0 for one that has ended. */
  readonly until: number;
}

/** Stores refusals over a restart. */
export interface RefusalMemory {
  load(): Promise<readonly SavedRefusal[]>;
  save(refusal: SavedRefusal): Promise<void>;
}

/** A refusal that ends this much earlier than the stored one means that the clock was set back. */
const clockWasSetMs = 60_000;

interface WatchedLimiter extends Omit<SavedRefusal, 'until'> {
  readonly limiter: Limiter;
  /** The stored value, as far as this process knows; 0 for none. */
  keptUntil: number;
  isRecalled: boolean;
}

/**
 * Keeps refusals over restarts, so that a restart does not ask a service that refuses requests. What must hold:
 *
 * - A stored refusal is read once. From then on the limiter has the current state, on both clocks.
 * - One read or write runs at a time, so that the last one stays.
 * - A memory that fails is logged once and tried again with the next call; requests do not wait for it.
 */
export class SavedRetryAfter {
  readonly #memory: RefusalMemory;
  readonly #logger: Logger;
  readonly #watched: WatchedLimiter[] = [];
  #lastTurn: Promise<void> = Promise.resolve();
  #isFailing = false;

  constructor(memory: RefusalMemory, logger: Logger) {
    this.#memory = memory;
    this.#logger = logger;
  }

  watch(limiter: Limiter, { provider, credential }: Pick<SavedRefusal, 'provider' | 'credential'>): void {
    if (this.#watched.some((each) => each.limiter === limiter)) return;
    this.#watched.push({ provider, credential, limiter, keptUntil: 0, isRecalled: false });
  }

  /** Passes the stored refusals to the limiters. Resolves when that is done or has failed. */
  recall(): Promise<void> {
    if (!this.#watched.some(isUnknown)) return this.#lastTurn;
    return this.#inTurn(async () => {
      const unknown = this.#watched.filter(isUnknown);
      if (unknown.length === 0) return;
      const kept = await this.#memory.load();
      for (const watched of unknown) recallFrom(kept, watched);
    });
  }

  /** Stores the refusals that began or ended since. Resolves when that is done or has failed. */
  keep(): Promise<void> {
    if (!this.#watched.some(isNews)) return this.#lastTurn;
    return this.#inTurn(async () => {
      for (const watched of this.#watched.filter(isNews)) {
        const { provider, credential } = watched;
        const until = untilOf(watched);
        await this.#memory.save({ provider, credential, until });
        watched.keptUntil = until;
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

function isUnknown({ isRecalled }: WatchedLimiter): boolean {
  return !isRecalled;
}

function recallFrom(kept: readonly SavedRefusal[], watched: WatchedLimiter): void {
  watched.isRecalled = true;
  // The current value already comes from this process.
  if (watched.keptUntil !== 0) return;
  const found = kept.find(
    ({ provider, credential }) => provider === watched.provider && credential === watched.credential,
  );
  if (found === undefined) return;
  watched.keptUntil = found.until;
  watched.limiter.stayClosed(found.until);
}

function isNews(watched: WatchedLimiter): boolean {
  const until = untilOf(watched);
  if (until === 0 || watched.keptUntil === 0) return until !== watched.keptUntil;
  return until > watched.keptUntil || until < watched.keptUntil - clockWasSetMs;
}

function untilOf({ limiter }: WatchedLimiter): number {
  return Math.ceil(limiter.closedUntil() ?? 0);
}
