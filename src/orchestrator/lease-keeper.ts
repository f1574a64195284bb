import { type Timer, timedOut, within } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import type { OrchestratorContext } from './context.ts';
import { forgetLook } from './schedule-look.ts';
import { stopRun } from './stop-run.ts';

/** Renewals a lease: two may fail before anything happens. */
const renewalsALease = 3;

/**
 * Keeps our claims on a store that other daemons share. They are renewed three times a lease, measured by the database's
 * clock and, on this side, from before the request was sent: so what we take for ours never lasts longer than what the
 * others see. A claim that turns out to be somebody else's ends its run. A daemon that could not renew for two thirds of
 * a lease ends its own agents, at once, before the lease does. Custody is never slowed: this has its own timer.
 */
export class LeaseKeeper {
  readonly #context: OrchestratorContext;
  #timer: Timer | null = null;
  #deadline: Timer | null = null;
  #renewedAt: number;
  #renewing = false;

  constructor(context: OrchestratorContext) {
    this.#context = context;
    this.#renewedAt = context.clock.monotonic();
  }

  start(): void {
    if (!this.#context.isShared) return;
    this.#renewedAt = this.#context.clock.monotonic();
    this.#schedule();
    this.#watchDeadline();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#deadline?.cancel();
  }

  /** Whether a claim that was asked for at `claimedAt`, on the monotonic clock, is surely still ours. */
  isSafe(claimedAt: number): boolean {
    if (!this.#context.isShared) return true;
    return this.#context.clock.monotonic() - Math.max(this.#renewedAt, claimedAt) < this.#safeMs();
  }

  #schedule(): void {
    this.#timer = this.#context.clock.schedule(this.#leaseMs() / renewalsALease, () => {
      this.#schedule();
      if (!this.#renewing) this.#context.own('lease', this.#renew());
    });
  }

  async #renew(): Promise<void> {
    const { clock, ledger, logger } = this.#context;
    const sentAt = clock.monotonic();
    this.#renewing = true;
    try {
      const lost = await within(clock, this.#leaseMs() / renewalsALease, ledger.renew(this.#leaseMs()));
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

  /** Has its own timer, begun anew by each renewal: it must not come a moment late. */
  #watchDeadline(): void {
    const { clock } = this.#context;
    this.#deadline?.cancel();
    this.#deadline = clock.schedule(this.#renewedAt + this.#safeMs() - clock.monotonic(), () => this.#endWhatIsOver());
  }

  /** Too long without a renewal: what runs here may soon be somebody else's. */
  #endWhatIsOver(): void {
    const { clock, state, processes, logger } = this.#context;
    const runs = [...state.running.values()];
    // What begins before the next renewal has a lease of its own from then on, and is ended before that one is over.
    this.#deadline = clock.schedule(this.#safeMs(), () => this.#endWhatIsOver());
    if (runs.length === 0) return;
    const sinceMs = clock.monotonic() - this.#renewedAt;
    logger.error('lease_lost', {
      since_ms: sinceMs,
      runs: runs.length,
    });
    for (const entry of runs) stopRun(this.#context, entry, 'claim_lost');
    this.#context.own('end at once', processes.endAtOnce(runs.map(({ runId }) => runId)));
  }

  /** Somebody else has the issue: whatever we know or promised about it is not true any more. */
  #lose(issueId: string): void {
    const { state, processes, logger } = this.#context;
    logger.warn('claim_lost', { issue_id: issueId });
    state.generations.delete(issueId);
    forgetLook(this.#context, issueId);
    state.held.delete(issueId);
    const running = state.running.get(issueId);
    if (running === undefined) return;
    stopRun(this.#context, running, 'claim_lost');
    this.#context.own('end at once', processes.endAtOnce([running.runId]));
  }

  /** How long after a renewal a claim is surely ours; the rest of the lease is for ending agents. */
  #safeMs(): number {
    return (this.#leaseMs() * (renewalsALease - 1)) / renewalsALease;
  }

  #leaseMs(): number {
    return this.#context.source.read().workflow.settings.store.leaseMs;
  }
}
