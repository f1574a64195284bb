import { within } from '../clock/clock.ts';
import type { DispatchDecision } from '../core/dispatch-plan.ts';
import { limitsSwitchedOff } from '../core/limits.ts';
import type { WorkflowReading } from '../core/workflow.ts';
import { AccountBook } from './account-book.ts';
import { Activity } from './activity.ts';
import { adoptAll, findOrphans } from './adopt.ts';
import { cleanAtStart } from './clean-at-start.ts';
import { CommandDoor } from './command-door.ts';
import type { OrchestratorContext, OrchestratorParts } from './context.ts';
import { previewDispatch, SlotFiller } from './dispatch.ts';
import { emptySchedulingState } from './empty-state.ts';
import { endEarlierLives } from './end-earlier-lives.ts';
import { type Explainer, type Explanation, explainIssue } from './explain.ts';
import { Jobs } from './jobs.ts';
import { Journal } from './journal.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { Ledger } from './ledger.ts';
import { lookAgain } from './look-again.ts';
import { lookFromOutside } from './look-from-outside.ts';
import { OpenQuestions } from './open-questions.ts';
import type { ClaimBeside } from './outside-gates.ts';
import { restMs, trackerNow } from './pace.ts';
import { PendingWork } from './pending-work.ts';
import { type ReadModel, readModel } from './read-model.ts';
import { readPause } from './read-pause.ts';
import { readLandings } from './record-landing.ts';
import { recurringJobs } from './recurring-jobs.ts';
import { takeUpRestored } from './reload.ts';
import { RoomWatch } from './room-watch.ts';
import type { RetryEntry, SchedulingState } from './scheduling-state.ts';
import { settleRun } from './settle-run.ts';
import { endRuns, giveClaimsBack } from './shut-down.ts';
import { type SweepReport, type SweepWish, sweepWorkspaces } from './sweep-workspaces.ts';
import { Takeover } from './takeover.ts';
import { errorsIn } from './tick.ts';
import { TickLoop } from './tick-loop.ts';
import { readToday } from './today.ts';
import { TrackerReads } from './tracker-reads.ts';
import { lookAtWaiting, looksDueSoon } from './waiting-looks.ts';
import { Watchers } from './watchers.ts';

/** So long the first tick waits for commands that wait. */
const commandsFirstMs = 5_000;
/** A person who changes several things in a row gets one sweep for them. */
const sweepAgainMs = 2_000;
/** The same for polls of a tracker that is elsewhere: the first one is at once, the others share the next. */
const pollAgainMs = 1_000;

/**
 * The one authority over scheduling state. It ticks at once when started, then every few seconds; a tick only decides and
 * begins things. Each other concern is a job at its own pace, the poll of the tracker among them. Exits, due looks and
 * commands are served when they come. It is stopped once: nothing new starts, every run is stopped, and
 * `closed` resolves when all of them are gone.
 */
export class Orchestrator {
  readonly closed: Promise<void>;
  readonly #context: OrchestratorContext;
  readonly #door: CommandDoor;
  readonly #filler: SlotFiller;
  readonly #lease: LeaseKeeper;
  readonly #pending: PendingWork;
  readonly #jobs: Jobs;
  readonly #ticks: TickLoop;
  readonly #state: SchedulingState = emptySchedulingState();
  readonly #stop = new AbortController();
  readonly #watchers: Watchers;
  readonly #startedAt: number;
  #resolveClosed: () => void = () => {};
  #starting: Promise<void> = Promise.resolve();
  #isStarted = false;
  #reading: WorkflowReading | null = null;

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
        restMs: (failures) => restMs(this.#context, failures),
        soon: () => looksDueSoon(this.#context),
      }),
      activity: new Activity({ ...parts, onActivity: () => this.#jobs.review() }),
      accounts: new AccountBook({ ...parts, onMended: () => lookAtWaiting(this.#context) }),
      questions: new OpenQuestions(() => this.#context),
      room: new RoomWatch({ ...parts, source, onRoomAgain: () => this.#context.fillSlots() }),
      isClaimSafe: (claimedAt) => this.#lease.isSafe(claimedAt),
      own: (what, work) => this.#pending.own(what, work),
      requestTick: () => this.#lookNow(),
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
    this.#jobs = new Jobs(this.#context, recurringJobs(this.#context));
    this.#ticks = new TickLoop({
      context: this.#context,
      jobs: this.#jobs,
      startedAt: this.#startedAt,
      onBegin: () => {
        this.#pending.own('commands', this.#door.knock());
        this.#reading = parts.source.read();
      },
      onEnd: () => {
        this.#reading = null;
        // A drain is over when nothing runs any more.
        if (this.#state.paused?.kind === 'drain' && this.#state.running.size === 0) void this.stop();
      },
    });
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
    logger.info('orchestrator_started');
    for (const limit of limitsSwitchedOff(source.read().workflow.settings)) logger.warn('limit_off', { limit });
    this.#lease.start();
    await endEarlierLives(this.#context);
    await this.#takeUp();
    // What people asked for while no daemon ran comes before anything starts; a slow tracker does not hold it up for long.
    await within(this.#context.clock, commandsFirstMs, this.#door.knock());
    if (this.#stop.signal.aborted) return;
    this.#isStarted = true;
    await this.#jobs.start();
    this.#pending.own('cleanup', cleanAtStart(this.#context));
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

  /** A person wrote something that may concern the orchestrator: commands are carried out and the tracker is looked at now. */
  wake(): void {
    const { reads, activity } = this.#context;
    if (this.#isStarted) this.#pending.own('commands', this.#door.knock());
    activity.note();
    reads.forgetAll();
    // Perhaps an issue of our own board is over now. What is elsewhere does not change by what is done here.
    if (trackerNow(this.#context)?.isLocal === true) this.#jobs.ask('workspace_sweep', { atLeastMs: sweepAgainMs });
    this.refresh();
  }

  /** Asks for a tick and a poll now, also of a tracker that rests; while one is in progress, for one right after it. */
  refresh(): void {
    this.#context.reads.rest.lift();
    this.#lookNow();
  }

  #lookNow(): void {
    // Whoever asks during the start gets the first tick: before it nothing may begin.
    if (this.#stop.signal.aborted || !this.#isStarted) return;
    const isLocal = trackerNow(this.#context)?.isLocal === true;
    this.#jobs.ask('tracker_poll', { atLeastMs: isLocal ? 0 : pollAgainMs });
    this.#ticks.ask();
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
      logger.info('orchestrator_stopping', { running: this.#state.running.size });
      this.#stop.abort();
      this.#ticks.stop();
      const jobsEnd = this.#jobs.stop();
      // What it takes over is being ended or written down; whoever started it hears of its error.
      await this.#starting.catch(() => {});
      await endRuns(this.#context, this.#ticks.inProgress);
      await jobsEnd;
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
      nextPollDueAt: this.#jobs.dueAt('tracker_poll'),
      pollCheckInProgress: this.#ticks.inProgress !== null || this.#jobs.isRunning('tracker_poll'),
      ticks: this.#ticks.number,
      errors: [...errorsIn(this.#ticks.steps), ...this.#state.pollErrors],
      jobs: this.#jobs.views(),
    });
  }

  /** The number of the newest event of a run in progress, written or not; null for any other run. */
  lastSeqOf(runId: string): number | null {
    return this.#context.journal.lastSeqOf(runId);
  }

  /** Calls the watcher after each change, until the returned function is called. */
  onChange(watcher: () => void): () => void {
    return this.#watchers.add(watcher);
  }

  /** Reads what must have survived, and takes over what nobody has. */
  async #takeUp(): Promise<void> {
    await readPause(this.#context);
    await readToday(this.#context);
    await readLandings(this.#context);
    await this.#context.accounts.read();
    await adoptAll(this.#context, await findOrphans(this.#context));
  }

  /** What comes due during the start waits for its end: before it others are still being taken over. */
  async #lookAgain(entry: RetryEntry): Promise<void> {
    await this.#starting;
    if (this.#state.retrying.get(entry.issue.id) === entry) await lookAgain(this.#context, entry);
  }
}
