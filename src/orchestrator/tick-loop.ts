import type { Timer } from '../clock/clock.ts';
import type { OrchestratorContext } from './context.ts';
import { tellHealth } from './health.ts';
import type { Jobs } from './jobs.ts';
import { paceNow } from './pace.ts';
import { runTick, type StepReport } from './tick.ts';

/** A tick costs nothing but a look around on this machine: it comes at least this often, whatever the polls do. */
const tickMs = 5_000;
/** Wall time that ran ahead of the monotonic clock by so much: the machine has slept, or its clock was set. */
const sleptMs = 60_000;

interface TickLoopParts {
  readonly context: OrchestratorContext;
  readonly jobs: Jobs;
  /** When the orchestrator was made, wall time. */
  readonly startedAt: number;
  /** Before the steps of each tick. */
  readonly onBegin: () => void;
  /** After each tick, whatever came of it. */
  readonly onEnd: () => void;
}

/**
 * The ticks: one at a time, the next counted from the end of the last. A tick only decides and begins things on this
 * machine; the tracker is asked by the job `tracker_poll`, at its own pace.
 */
export class TickLoop {
  readonly #parts: TickLoopParts;
  #timer: Timer | null = null;
  #nextAt: number | null = null;
  #ticking: Promise<void> | null = null;
  #isWanted = false;
  #number = 0;
  #steps: readonly StepReport[] = [];
  #seenAt: { readonly wall: number; readonly monotonic: number } | null = null;

  constructor(parts: TickLoopParts) {
    this.#parts = parts;
  }

  /** How many there were. */
  get number(): number {
    return this.#number;
  }

  get steps(): readonly StepReport[] {
    return this.#steps;
  }

  /** The one in progress, if there is one. */
  get inProgress(): Promise<void> | null {
    return this.#ticking;
  }

  /** Asks for a tick now; while one is in progress, for one right after it. */
  ask(): void {
    if (this.#ticking === null) this.#schedule(0);
    else this.#isWanted = true;
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #schedule(delayMs: number): void {
    const { clock } = this.#parts.context;
    this.#timer?.cancel();
    this.#nextAt = clock.monotonic() + delayMs;
    this.#timer = clock.schedule(delayMs, () => {
      // In progress before anybody is told of it: who hears of a tick and asks for another gets one after it.
      this.#ticking = Promise.resolve().then(() => this.#tick());
    });
  }

  async #tick(): Promise<void> {
    const { context, jobs, onBegin, onEnd, startedAt } = this.#parts;
    const { clock, state, stopping, activity, logger } = context;
    const tickStartedAt = { wall: clock.now(), monotonic: clock.monotonic() };
    this.#nextAt = null;
    this.#isWanted = false;
    context.notify();
    try {
      onBegin();
      this.#lookForSleep(tickStartedAt);
      activity.look();
      jobs.review();
      this.#steps = await runTick(context);
    } catch (error) {
      logger.error('tick_failed', { error });
    } finally {
      this.#number += 1;
      this.#ticking = null;
      onEnd();
      if (!stopping.aborted) this.#schedule(this.#isWanted ? 0 : Math.min(paceNow(context).intervalMs, tickMs));
      tellHealth(context, {
        startedAt,
        number: this.#number,
        tickStartedAt,
        steps: this.#steps,
        nextTickAt: this.#nextAt,
        isPolling: jobs.isRunning('tracker_poll'),
        pollErrors: state.pollErrors,
        jobs: jobs.views(),
      });
      context.notify();
    }
  }

  /** A machine that slept wakes to one poll, not to a wait that was begun the evening before. */
  #lookForSleep(now: { readonly wall: number; readonly monotonic: number }): void {
    const before = this.#seenAt;
    this.#seenAt = now;
    if (before === null || now.wall - before.wall - (now.monotonic - before.monotonic) < sleptMs) return;
    this.#parts.context.logger.info('clock_jumped');
    this.#parts.jobs.ask('tracker_poll');
  }
}
