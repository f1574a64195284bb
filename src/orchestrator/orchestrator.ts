import { type Timer, within } from '../clock/clock.ts';
import type { DispatchDecision } from '../core/dispatch-plan.ts';
import { limitsSwitchedOff } from '../core/limits.ts';
import type { WorkflowReading } from '../core/workflow.ts';
import { adoptAll, findOrphans } from './adopt.ts';
import { cleanTerminalWorkspaces } from './clean-workspaces.ts';
import { CommandDoor } from './command-door.ts';
import type { OrchestratorContext, OrchestratorParts } from './context.ts';
import { lookAfterRuns } from './custody.ts';
import { previewDispatch, SlotFiller } from './dispatch.ts';
import { endEarlierLives } from './end-earlier-lives.ts';
import { type Explainer, type Explanation, explainIssue } from './explain.ts';
import { tellHealth } from './health.ts';
import { Journal } from './journal.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { Ledger } from './ledger.ts';
import { lookAgain } from './look-again.ts';
import { lookFromOutside } from './look-from-outside.ts';
import type { ClaimBeside } from './outside-gates.ts';
import { PendingWork } from './pending-work.ts';
import { Poller } from './poller.ts';
import { type ReadModel, readModel } from './read-model.ts';
import { readPause } from './read-pause.ts';
import { takeUpRestored } from './reload.ts';
import { RoomWatch } from './room-watch.ts';
import { emptySchedulingState, type RetryEntry, type SchedulingState } from './scheduling-state.ts';
import { settleRun } from './settle-run.ts';
import { endRuns, giveClaimsBack } from './shut-down.ts';
import { type SweepReport, type SweepWish, sweepWorkspaces } from './sweep-workspaces.ts';
import { Takeover } from './takeover.ts';
import { errorsIn, runTick, type StepReport } from './tick.ts';
import { tickIntervalMs } from './tick-interval.ts';
import { readToday } from './today.ts';
import { TrackerReads } from './tracker-reads.ts';
import { looksDueSoon } from './waiting-looks.ts';
import { Watchers } from './watchers.ts';

/** How often live runs are looked after between two ticks; the first tick waits as long for waiting commands. */
const custodyMs = 5_000;

/**
 * The one authority over scheduling state. It ticks at once when started, then by `polling.interval_ms` counted from the
 * end of a tick. A tick only decides and begins things; the tracker is asked beside it, one poll at a time. Exits, due
 * looks and commands are served when they come. It is stopped once: nothing new starts, every run is stopped, and
 * `closed` resolves when all of them are gone.
 */
export class Orchestrator {
  readonly closed: Promise<void>;
  readonly #context: OrchestratorContext;
  readonly #door: CommandDoor;
  readonly #filler: SlotFiller;
  readonly #lease: LeaseKeeper;
  readonly #pending: PendingWork;
  readonly #poller: Poller;
  readonly #state: SchedulingState = emptySchedulingState();
  readonly #stop = new AbortController();
  readonly #watchers: Watchers;
  readonly #startedAt: number;
  #resolveClosed: () => void = () => {};
  #timer: Timer | null = null;
  #custodyTimer: Timer | null = null;
  #nextTickAt: number | null = null;
  #starting: Promise<void> = Promise.resolve();
  #isStarted = false;
  #ticking: Promise<void> | null = null;
  #tickWanted = false;
  #ticks = 0;
  #reading: WorkflowReading | null = null;
  #steps: readonly StepReport[] = [];

  constructor(parts: OrchestratorParts) {
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    const { clock } = parts;
    // A tick in progress keeps the settings it began with.
    const source = { read: () => this.#reading ?? parts.source.read() };
    const stopping = this.#stop.signal;
    this.#startedAt = clock.now();
    this.#pending = new PendingWork(parts.logger);
    this.#watchers = new Watchers(parts.logger);
    this.#context = {
      ...parts,
      source,
      state: this.#state,
      stopping,
      ledger: new Ledger({ ...parts, generations: this.#state.generations }),
      takeover: new Takeover({ ...parts, generations: this.#state.generations }),
      journal: new Journal({ ...parts, stopping }),
      reads: new TrackerReads({
        clock,
        stopping,
        tracker: () => parts.trackerFor(source.read().workflow.settings),
        freshnessMs: () => source.read().workflow.settings.polling.freshnessMs,
        soon: () => looksDueSoon(this.#context),
      }),
      room: new RoomWatch({ ...parts, source, onRoomAgain: () => this.#context.fillSlots() }),
      isClaimSafe: (claimedAt) => this.#lease.isSafe(claimedAt),
      own: (what, work) => this.#pending.own(what, work),
      requestTick: () => this.refresh(),
      fillSlots: () => {
        if (!stopping.aborted && this.#isStarted) this.#filler.fill();
      },
      runEnded: (entry, outcome) => this.#pending.own('exit', settleRun(this.#context, entry, outcome)),
      lookDue: (entry) => this.#pending.own('look', this.#lookAgain(entry)),
      notify: () => this.#watchers.notify(),
    };
    this.#door = new CommandDoor(this.#context);
    this.#filler = new SlotFiller(this.#context);
    this.#lease = new LeaseKeeper(this.#context);
    this.#poller = new Poller(this.#context);
  }

  /**
   * Startup in this order: what earlier lives left is ended and taken over, workspaces of finished issues are cleaned,
   * then comes the first tick. Rejects when the store cannot be read.
   */
  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    const { logger, source } = this.#context;
    logger.info('The orchestrator starts.');
    for (const limit of limitsSwitchedOff(source.read().workflow.settings))
      logger.warn('A limit is switched off: nothing bounds what this costs.', { limit });
    this.#lease.start();
    await endEarlierLives(this.#context);
    await this.#takeUp();
    // What people asked for while no daemon ran comes before anything starts; a slow tracker does not hold it up for long.
    await within(this.#context.clock, custodyMs, this.#door.knock());
    if (this.#stop.signal.aborted) return;
    this.#isStarted = true;
    this.#pending.own('cleanup', cleanTerminalWorkspaces(this.#context));
    this.#lookAfterRuns();
    this.refresh();
  }

  /** The store was put back to an earlier moment beside us: what it says holds, except for the runs in progress. */
  reload(): void {
    const again = async (): Promise<void> => {
      await takeUpRestored(this.#context);
      await this.#takeUp();
      this.wake();
    };
    this.#pending.own('reload', again());
  }

  /** Something was written that may concern the orchestrator: commands are carried out and the tracker is looked at now. */
  wake(): void {
    if (this.#isStarted) this.#pending.own('commands', this.#door.knock());
    this.#context.reads.forgetAll();
    this.#context.state.isSweepWanted = true;
    this.refresh();
  }

  /** Asks for a tick now; while one is in progress, for one right after it. */
  refresh(): void {
    // Whoever asks during the start gets the first tick: before it nothing may begin.
    if (this.#stop.signal.aborted || !this.#isStarted) return;
    this.#poller.want();
    if (this.#ticking !== null) {
      this.#tickWanted = true;
      return;
    }
    this.#scheduleTick(0);
  }

  /** There may be a slot for a candidate that is known: a slot of this Baton was freed. */
  fillSlots(): void {
    this.#context.fillSlots();
  }

  /** What a tick would do now, after what must have survived was read; nothing is started. */
  async preview(beside: readonly ClaimBeside[] = []): Promise<readonly DispatchDecision[]> {
    await lookFromOutside(this.#context);
    return previewDispatch(this.#context, beside);
  }

  /** Why an issue starts or does not, gate by gate. */
  async explain(reference: string, by: Explainer = 'daemon'): Promise<Explanation> {
    if (by === 'visitor') await lookFromOutside(this.#context);
    return explainIssue(this.#context, reference, by);
  }

  /** Removes the workspaces that may go; also before a start, for a person who runs no daemon. */
  prune(wish: SweepWish): Promise<SweepReport> {
    return sweepWorkspaces(this.#context, wish);
  }

  /** Stops everything and resolves when no run is left. Calling it again waits for the same end. */
  async stop(): Promise<void> {
    if (!this.#stop.signal.aborted) {
      const { logger, journal, pool } = this.#context;
      logger.info('The orchestrator stops.', { running: this.#state.running.size });
      this.#stop.abort();
      this.#timer?.cancel();
      this.#custodyTimer?.cancel();
      // What it takes over is being ended or written down; whoever started it hears of its error.
      await this.#starting.catch(() => {});
      await endRuns(this.#context, this.#ticking);
      await this.#pending.drain();
      await journal.flush();
      this.#lease.stop();
      await giveClaimsBack(this.#context);
      pool?.leave();
      this.#watchers.notify();
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
      pollCheckInProgress: this.#ticking !== null || this.#poller.isPolling,
      ticks: this.#ticks,
      errors: [...errorsIn(this.#steps), ...this.#poller.errors],
    });
  }

  /** Calls the watcher after each change, until the returned function is called. */
  onChange(watcher: () => void): () => void {
    return this.#watchers.add(watcher);
  }

  /** Reads what must have survived, and takes over what nobody has. */
  async #takeUp(): Promise<void> {
    await readPause(this.#context);
    await readToday(this.#context);
    await adoptAll(this.#context, await findOrphans(this.#context));
  }

  /** What comes due during the start waits for its end: before it others are still being taken over. */
  async #lookAgain(entry: RetryEntry): Promise<void> {
    await this.#starting;
    if (this.#state.retrying.get(entry.issue.id) === entry) await lookAgain(this.#context, entry);
  }

  #scheduleTick(delayMs: number): void {
    this.#timer?.cancel();
    this.#nextTickAt = this.#context.clock.monotonic() + delayMs;
    this.#timer = this.#context.clock.schedule(delayMs, () => {
      // In progress before anybody is told of it: who hears of a tick and asks for another gets one after it.
      this.#ticking = Promise.resolve().then(() => this.#tick());
    });
  }

  async #tick(): Promise<void> {
    const { clock } = this.#context;
    const startedAt = { wall: clock.now(), monotonic: clock.monotonic() };
    this.#nextTickAt = null;
    this.#tickWanted = false;
    this.#watchers.notify();
    this.#pending.own('commands', this.#door.knock());
    try {
      this.#reading = this.#context.source.read();
      this.#steps = await runTick(this.#context, () => this.#poller.begin());
    } catch (error) {
      this.#context.logger.error('A tick failed.', { error });
    } finally {
      this.#reading = null;
      this.#ticks += 1;
      this.#ticking = null;
      if (!this.#stop.signal.aborted) this.#scheduleTick(this.#tickWanted ? 0 : tickIntervalMs(this.#context));
      tellHealth(this.#context, {
        startedAt: this.#startedAt,
        number: this.#ticks,
        tickStartedAt: startedAt,
        steps: this.#steps,
        nextTickAt: this.#nextTickAt,
        isPolling: this.#poller.isPolling,
        pollErrors: this.#poller.errors,
      });
      // A drain is over when nothing runs any more.
      if (this.#state.paused?.kind === 'drain' && this.#state.running.size === 0) void this.stop();
      this.#watchers.notify();
    }
  }

  /** Between ticks that are far apart: a stall, a limit or a lost process is found soon all the same, and so is room. */
  #lookAfterRuns(): void {
    if (this.#stop.signal.aborted) return;
    this.#custodyTimer = this.#context.clock.schedule(custodyMs, () => {
      this.#lookAfterRuns();
      lookAfterRuns(this.#context);
      const { room } = this.#context;
      if (room.whyNone() !== null) this.#pending.own('room', room.look());
    });
  }
}
