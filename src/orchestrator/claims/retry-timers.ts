import type { Timer } from '../../clock/clock.ts';
import type { BaseParts } from '../parts.ts';
import type { ClaimChange, Retrying } from './claim.ts';
import type { Claims } from './claims.ts';

export interface RetryTimersParts extends Pick<BaseParts, 'clock' | 'stopping'> {
  readonly claims: Claims;
  readonly onDue: (retrying: Retrying) => void;
}

/** One timer for each retrying issue; it follows the changes of the claim. */
export class RetryTimers {
  readonly #parts: RetryTimersParts;
  readonly #timers = new Map<string, Timer>();

  constructor(parts: RetryTimersParts) {
    this.#parts = parts;
    parts.claims.onChange((change) => this.#follow(change));
  }

  stop(): void {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #follow({ issueId, before, after }: ClaimChange): void {
    if (before === after) return;
    this.#timers.get(issueId)?.cancel();
    this.#timers.delete(issueId);
    const { claims, clock, stopping, onDue } = this.#parts;
    // A visitor only shows retries; the daemon that has the claim tries them.
    if (after?.status !== 'retrying' || after.generation === null || stopping.aborted) return;
    const timer = clock.schedule(after.wakeAt - clock.monotonic(), () => {
      // A timer that fired just before it was cancelled must not act for another claim.
      if (claims.get(issueId) === after) onDue(after);
    });
    this.#timers.set(issueId, timer);
  }
}
