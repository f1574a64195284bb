import type { Timer } from '../clock/clock.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { Activity } from './poll/activity.ts';
import { paceNow } from './poll/pace.ts';
import type { PollError } from './poll/poll.ts';
import { type DueReads, runTick, type StepReport, type TickParts, type TickTotals } from './tick-steps.ts';
import { type HealthParts, publishHealth } from './view/health.ts';

/** A tick only checks state on this machine, so it is cheap: it comes at least this often, whatever the polls do. */
const tickMs = 5_000;
/** When wall time is this far ahead of the monotonic clock, the machine has slept, or its clock was set. */
const sleptMs = 60_000;

interface TickLoopParts extends TickParts, HealthParts {
  readonly activity: Activity;
  readonly jobs: Jobs;
  readonly due: DueReads;
  readonly pollErrors: () => readonly PollError[];
  readonly notify: () => void;
  /** When the orchestrator was created, wall time. */
  readonly startedAt: number;
  readonly onBegin: () => void;
  readonly onEnd: () => void;
}

/**
 * Runs the ticks: one at a time, the next counted from the end of the last. A tick only decides and begins things on
 * this machine; the job `tracker_poll` reads the tracker at its own pace.
 */
export class TickLoop {
  readonly #parts: TickLoopParts;
  #timer: Timer | null = null;
  #nextAt: number | null = null;
  #ticking: Promise<void> | null = null;
  #isWanted = false;
  #number = 0;
  #steps: readonly StepReport[] = [];
  readonly #totals: TickTotals = new Map();
  #seenAt: { readonly wall: number; readonly monotonic: number } | null = null;

  constructor(parts: TickLoopParts) {
    this.#parts = parts;
  }

  get number(): number {
    return this.#number;
  }

  get steps(): readonly StepReport[] {
    return this.#steps;
  }

  /** The time that each step has taken since the start. */
  get totals(): TickTotals {
    return this.#totals;
  }

  get inProgress(): Promise<void> | null {
    return this.#ticking;
  }

  /** Asks for a tick now; if one is in progress, for another right after it. */
  ask(): void {
    if (this.#ticking === null) this.#schedule(0);
    else this.#isWanted = true;
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #schedule(delayMs: number): void {
    const { clock } = this.#parts;
    this.#timer?.cancel();
    this.#nextAt = clock.monotonic() + delayMs;
    this.#timer = clock.schedule(delayMs, () => {
      // `#ticking` is set before listeners hear of the tick: a listener that asks for another one gets it after this
      // one.
      this.#ticking = Promise.resolve().then(() => this.#tick());
    });
  }

  async #tick(): Promise<void> {
    const { jobs, onBegin, onEnd, startedAt, clock, stopping, activity, logger, notify } = this.#parts;
    const tickStartedAt = { wall: clock.now(), monotonic: clock.monotonic() };
    this.#nextAt = null;
    this.#isWanted = false;
    notify();
    try {
      onBegin();
      this.#checkForSleep(tickStartedAt);
      activity.readFile();
      jobs.review();
      this.#steps = await runTick(this.#parts, this.#parts.due);
      addTick(this.#totals, this.#steps);
    } catch (error) {
      logger.error('tick_failed', { error });
    } finally {
      this.#number += 1;
      this.#ticking = null;
      onEnd();
      if (!stopping.aborted) this.#schedule(this.#isWanted ? 0 : Math.min(paceNow(this.#parts).intervalMs, tickMs));
      publishHealth(this.#parts, {
        startedAt,
        number: this.#number,
        tickStartedAt,
        steps: this.#steps,
        nextTickAt: this.#nextAt,
        isPolling: jobs.isRunning('tracker_poll'),
        pollErrors: this.#parts.pollErrors(),
        jobs: jobs.views(),
      });
      notify();
    }
  }

  /** A machine that slept polls once when it wakes, and does not finish a wait from the evening before. */
  #checkForSleep(now: { readonly wall: number; readonly monotonic: number }): void {
    const before = this.#seenAt;
    this.#seenAt = now;
    if (before === null || now.wall - before.wall - (now.monotonic - before.monotonic) < sleptMs) return;
    this.#parts.logger.info('clock_jumped');
    this.#parts.jobs.ask('tracker_poll');
  }
}

function addTick(totals: TickTotals, steps: readonly StepReport[]): void {
  for (const { step, durationMs } of steps) {
    const before = totals.get(step) ?? { ms: 0, longestMs: 0 };
    totals.set(step, { ms: before.ms + durationMs, longestMs: Math.max(before.longestMs, durationMs) });
  }
}
