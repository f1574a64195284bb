import { type Timer, timedOut, within } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { StopReason } from '../../core/run/run.ts';
import type { BaseParts } from '../parts.ts';
import type { Running } from './claim.ts';
import type { Claims } from './claims.ts';

export interface LeaseKeeperParts
  extends Pick<BaseParts, 'clock' | 'isShared' | 'leaseMs' | 'logger' | 'own' | 'processes'> {
  readonly claims: Claims;
  readonly stopRun: (running: Running, reason: StopReason) => void;
}

/** Renewals per lease: two may fail before anything happens. */
const renewalsALease = 3;

/**
 * Keeps our claims on a store that other daemons share. It renews them three times per lease. The lease is measured by
 * the database's clock and, on this side, from before the request was sent: so we never treat a claim as ours for
 * longer than the others do. A claim that turns out to be another daemon's ends its run. A daemon that could not renew
 * for two thirds of a lease ends its own agents at once, before the lease ends. Nothing delays this: it has its own
 * timer.
 */
export class LeaseKeeper {
  readonly #parts: LeaseKeeperParts;
  #timer: Timer | null = null;
  #deadline: Timer | null = null;
  #renewedAt: number;
  #renewing = false;

  constructor(parts: LeaseKeeperParts) {
    this.#parts = parts;
    this.#renewedAt = parts.clock.monotonic();
  }

  start(): void {
    if (!this.#parts.isShared) return;
    this.#renewedAt = this.#parts.clock.monotonic();
    this.#schedule();
    this.#watchDeadline();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#deadline?.cancel();
  }

  /** Whether a claim that was requested at `claimedAt`, on the monotonic clock, is certainly still ours. */
  isSafe(claimedAt: number): boolean {
    if (!this.#parts.isShared) return true;
    return this.#parts.clock.monotonic() - Math.max(this.#renewedAt, claimedAt) < this.#safeMs();
  }

  #schedule(): void {
    const { clock, own, leaseMs } = this.#parts;
    this.#timer = clock.schedule(leaseMs() / renewalsALease, () => {
      this.#schedule();
      if (!this.#renewing) own('lease', this.#renew());
    });
  }

  async #renew(): Promise<void> {
    const { clock, claims, logger, leaseMs } = this.#parts;
    const sentAt = clock.monotonic();
    this.#renewing = true;
    try {
      const lost = await within(clock, leaseMs() / renewalsALease, claims.renew(leaseMs()));
      if (lost === timedOut) throw new BatonError('store_unavailable', 'The store does not answer.');
      this.#renewedAt = sentAt;
      this.#watchDeadline();
      for (const issueId of lost) this.#lose(issueId);
    } catch (error) {
      logger.error('lease_renewal_failed', { since_ms: clock.monotonic() - this.#renewedAt, error });
    } finally {
      this.#renewing = false;
    }
  }

  /** Each renewal restarts this separate timer: it must never fire late. */
  #watchDeadline(): void {
    const { clock } = this.#parts;
    this.#deadline?.cancel();
    this.#deadline = clock.schedule(this.#renewedAt + this.#safeMs() - clock.monotonic(), () => this.#endAll());
  }

  /** Too long without a renewal: another daemon may soon take our issues. */
  #endAll(): void {
    const { clock, claims, logger } = this.#parts;
    const runs = [...claims.running.values()];
    // A run that begins before the next renewal has its own lease from then on. The new timer ends it before that lease
    // is over.
    this.#deadline = clock.schedule(this.#safeMs(), () => this.#endAll());
    if (runs.length === 0) return;
    logger.error('lease_lost', { since_ms: clock.monotonic() - this.#renewedAt, runs: runs.length });
    this.#endAtOnce(runs);
  }

  #lose(issueId: string): void {
    const { claims, logger } = this.#parts;
    logger.warn('claim_lost', { issue_id: issueId });
    claims.lose(issueId);
    const running = claims.running.get(issueId);
    if (running !== undefined) this.#endAtOnce([running]);
  }

  #endAtOnce(runs: readonly Running[]): void {
    const { stopRun, own, processes } = this.#parts;
    for (const running of runs) stopRun(running, 'claim_lost');
    own('end at once', processes.endAtOnce(runs.map(({ runId }) => runId)));
  }

  /** How long after a renewal a claim is certainly ours; the rest of the lease is for ending agents. */
  #safeMs(): number {
    return (this.#parts.leaseMs() * (renewalsALease - 1)) / renewalsALease;
  }
}
