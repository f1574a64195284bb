import { type Timer, within } from '../clock/clock.ts';
import type { BatonError } from '../core/baton-error.ts';
import type { DispatchDecision } from '../core/dispatch-plan.ts';
import { CommandDoor } from './command-door.ts';
import type { OrchestratorContext, OrchestratorParts } from './context.ts';
import { type ClaimBeside, previewDispatch } from './dispatch.ts';
import { endLeftovers } from './end-leftovers.ts';
import { handleRunExit } from './handle-run-exit.ts';
import { Journal } from './journal.ts';
import { lookAgain } from './look-again.ts';
import { PendingWork } from './pending-work.ts';
import { type ReadModel, readModel } from './read-model.ts';
import { readKept, takeUp } from './recover.ts';
import { emptySchedulingState, type SchedulingState } from './scheduling-state.ts';
import { stopRun } from './stop-run.ts';
import { runTick } from './tick.ts';

/** How long a stop waits for the tick in progress (seed 4, Graceful Shutdown Drain). */
const tickDrainMs = 5_000;

/**
 * The one authority over scheduling state. It ticks at once when started, then by `polling.interval_ms` counted from the
 * end of a tick, and sooner when a run ends. It is stopped once: nothing new starts, every run is stopped, and `closed`
 * resolves when all of them are gone.
 */
export class Orchestrator {
  readonly closed: Promise<void>;
  readonly #context: OrchestratorContext;
  readonly #door: CommandDoor;
  readonly #pending: PendingWork;
  readonly #state: SchedulingState = emptySchedulingState();
  readonly #stop = new AbortController();
  readonly #watchers = new Set<() => void>();
  readonly #startedAt: number;
  #resolveClosed: () => void = () => {};
  #timer: Timer | null = null;
  #nextTickAt: number | null = null;
  #ticking: Promise<void> | null = null;
  #tickWanted = false;
  #ticks = 0;
  #errors: readonly { step: string; error: BatonError }[] = [];

  constructor(parts: OrchestratorParts) {
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#startedAt = parts.clock.now();
    this.#pending = new PendingWork(parts.logger);
    this.#context = {
      ...parts,
      state: this.#state,
      journal: new Journal({ ...parts, stopping: this.#stop.signal }),
      stopping: this.#stop.signal,
      own: (what, work) => this.#pending.own(what, work),
      requestTick: () => this.refresh(),
      runEnded: (entry, outcome) => handleRunExit(this.#context, entry, outcome),
      lookDue: (entry) => this.#pending.own('look', lookAgain(this.#context, entry)),
      knock: () => this.#door.knock(),
      notify: () => this.#notify(),
    };
    this.#door = new CommandDoor(this.#context);
  }

  /** Reads what must have survived, then ticks. Rejects when the store cannot be read. */
  async start(): Promise<void> {
    this.#context.logger.info('The orchestrator starts.');
    takeUp(this.#context, await readKept(this.#context));
    await endLeftovers(this.#context);
    this.refresh();
  }

  /** The store was put back to an earlier moment beside us: what it says holds, except for the runs in progress. */
  reload(): void {
    const again = async (): Promise<void> => {
      takeUp(this.#context, await readKept(this.#context));
      this.wake();
    };
    this.#pending.own('reload', again());
  }

  /** Something was written that may concern the orchestrator: commands are carried out and the tracker is looked at now. */
  wake(): void {
    this.#pending.own('commands', this.#door.knock());
    this.refresh();
  }

  /** Asks for a tick now; while one is in progress, for one right after it. */
  refresh(): void {
    if (this.#stop.signal.aborted) return;
    if (this.#ticking !== null) {
      this.#tickWanted = true;
      return;
    }
    this.#scheduleTick(0);
  }

  /** What a tick would do now, after what must have survived was read; nothing is started. */
  async preview(beside: readonly ClaimBeside[] = []): Promise<readonly DispatchDecision[]> {
    takeUp(this.#context, await readKept(this.#context));
    return previewDispatch(this.#context, beside);
  }

  /** Stops everything and resolves when no run is left. Calling it again waits for the same end. */
  async stop(): Promise<void> {
    if (!this.#stop.signal.aborted) {
      this.#context.logger.info('The orchestrator stops.', { running: this.#state.running.size });
      this.#stop.abort();
      this.#timer?.cancel();
      for (const entry of this.#state.retrying.values()) entry.timer.cancel();
      if (this.#ticking !== null) await within(this.#context.clock, tickDrainMs, this.#ticking);
      const runs = [...this.#state.running.values()];
      for (const entry of runs) stopRun(this.#context, entry, 'shutdown');
      await Promise.all(runs.map(({ run }) => run.outcome));
      await this.#context.journal.flush();
      await this.#state.maintenance;
      await this.#pending.drain();
      this.#notify();
      this.#resolveClosed();
    }
    return this.closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** What is going on, as a copy that does not change. Never waits for anything. */
  read(): ReadModel {
    return readModel(this.#context, {
      startedAt: this.#startedAt,
      nextPollDueAt: this.#nextTickAt,
      pollCheckInProgress: this.#ticking !== null,
      ticks: this.#ticks,
      errors: this.#errors,
    });
  }

  /** Calls the watcher after each change, until the returned function is called. */
  onChange(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #scheduleTick(delayMs: number): void {
    this.#timer?.cancel();
    this.#nextTickAt = this.#context.clock.monotonic() + delayMs;
    this.#timer = this.#context.clock.schedule(delayMs, () => {
      this.#ticking = this.#tick();
    });
  }

  async #tick(): Promise<void> {
    this.#nextTickAt = null;
    this.#tickWanted = false;
    this.#notify();
    const report = await runTick(this.#context);
    this.#errors = report.errors;
    this.#ticks += 1;
    // A drain is over when nothing runs any more.
    if (this.#state.paused?.kind === 'drain' && this.#state.running.size === 0) void this.stop();
    this.#ticking = null;
    if (!this.#stop.signal.aborted) {
      // Read again: the interval may have been changed while the tick ran (seed 1, Configuration Reloading).
      const { intervalMs } = this.#context.source.read().workflow.settings.polling;
      this.#scheduleTick(this.#tickWanted ? 0 : intervalMs);
    }
    this.#notify();
  }

  /** A watcher must not be able to break the scheduler. */
  #notify(): void {
    for (const watcher of this.#watchers) {
      try {
        watcher();
      } catch (error) {
        this.#context.logger.error('A watcher of the orchestrator failed.', { error });
      }
    }
  }
}
