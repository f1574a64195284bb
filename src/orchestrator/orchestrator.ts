import type { AgentEvent } from '../agent/agent.ts';
import { within } from '../clock/clock.ts';
import type { DispatchDecision } from '../core/dispatch/dispatch-plan.ts';
import { stateClass } from '../core/dispatch/eligibility.ts';
import type { RoomLeft } from '../core/dispatch/headroom.ts';
import type { Issue } from '../core/issue/issue.ts';
import { limitsSwitchedOff } from '../core/run/limits.ts';
import type { Settings } from '../core/settings.ts';
import type { WorkflowReading } from '../core/workflow.ts';
import type { Runner } from '../runner/runner.ts';
import type { Transcripts } from '../store/transcripts/transcript-files.ts';
import type { ClaimChange, Retrying } from './claims/claim.ts';
import { Claims } from './claims/claims.ts';
import { endLeftoverProcesses, findOrphans, inheritAll } from './claims/inherit.ts';
import { LeaseKeeper } from './claims/lease-keeper.ts';
import { RetryTimers } from './claims/retry-timers.ts';
import { CommandDoor } from './commands/command-door.ts';
import { Pause } from './commands/pause.ts';
import type { ClaimBeside } from './dispatch/gates.ts';
import { HeadroomWatch } from './dispatch/headroom.ts';
import { Retries } from './dispatch/retry.ts';
import { skippedIssues } from './dispatch/skipped.ts';
import { previewDispatch, SlotFiller } from './dispatch/slot-filler.ts';
import type { PoolMember } from './dispatch/slot-pool.ts';
import { Jobs } from './jobs/jobs.ts';
import { QueueHealth } from './jobs/queue-health.ts';
import { recurringJobs } from './jobs/recurring-jobs.ts';
import type { BaseParts, EndedRun, IssueDesk, Trial } from './parts.ts';
import { PendingWork } from './pending-work.ts';
import { Activity } from './poll/activity.ts';
import { Candidates } from './poll/candidates.ts';
import { Landings } from './poll/landings.ts';
import { restMs, trackerNow } from './poll/pace.ts';
import type { PollError } from './poll/poll.ts';
import { TrackerReads } from './poll/tracker-reads.ts';
import { AccountBook } from './runs/account-book.ts';
import { Journal } from './runs/journal.ts';
import { OpenQuestions } from './runs/open-questions.ts';
import { noTotals } from './runs/run-totals.ts';
import { Runs } from './runs/runs.ts';
import { Spending } from './runs/spending.ts';
import { endRuns, giveClaimsBack } from './shut-down.ts';
import { TickLoop } from './tick-loop.ts';
import { DueReads, errorsIn } from './tick-steps.ts';
import { type Explainer, type Explanation, explainIssue } from './view/explain.ts';
import type { Health } from './view/health.ts';
import { type ReadModel, readModel } from './view/read-model.ts';
import { Watchers } from './view/watchers.ts';
import { cleanAtStart } from './workspaces/clean-at-start.ts';
import { WorkspaceCleaner } from './workspaces/clean-workspaces.ts';
import { type SweepReport, type SweepWish, WorkspaceSweep } from './workspaces/sweep-workspaces.ts';

export interface OrchestratorParts extends Omit<BaseParts, 'leaseMs' | 'notify' | 'own' | 'requestTick' | 'stopping'> {
  readonly runner: Runner;
  readonly transcripts: Transcripts;
  /** What the machine has left for new work. May hang, or reject: then it is unknown. */
  readonly roomLeft: (settings: Settings) => Promise<RoomLeft>;
  /** Drops salvaged work that is older than these settings want; gives how much. May reject. */
  readonly pruneSalvage: (settings: Settings) => Promise<number>;
  /** Takes in what other daemons on the store have asked of remote services. May reject. */
  readonly refreshRequests: () => Promise<void>;
  /** When a person last touched the file that says so, wall time; null where there is none. */
  readonly touchedAt: () => number | null;
  /** Slots that several projects of this Baton share; null where it is alone. */
  readonly pool: PoolMember | null;
  /** Limits a trial to these issues (ids or identifiers) and to so many runs; null: no limit. */
  readonly trial: Trial | null;
  /** Changes the issues themselves, where they are Baton's own; absent elsewhere, and where nobody asks for it. */
  readonly issueDesk?: () => IssueDesk | null;
  /** Hears of each event of a run with its number. It must be quick, and not throw. */
  readonly onRunEvent?: (runId: string, seq: number, event: AgentEvent) => void;
  /** Hears of each run that has ended. It must be quick, and not throw. */
  readonly onRunEnd?: (run: EndedRun) => void;
  readonly onHealth: (health: Health) => void;
}

/** How long the first tick waits for commands that wait. */
const commandsFirstMs = 5_000;
/** A person who changes several things in a row gets one sweep for them. */
const sweepAgainMs = 2_000;
/** The same for polls of a tracker that is elsewhere: the first one is at once, the others share the next. */
const pollAgainMs = 1_000;

/**
 * The one authority over scheduling. It ticks at once when started, then every few seconds; a tick only decides and begins
 * things. Each other concern is a job at its own pace, the poll of the tracker among them. Exits, due retries and commands
 * are served when they come. It is stopped once: nothing new starts, every run is stopped, and `closed` resolves when all
 * of them are gone.
 */
export class Orchestrator {
  readonly closed: Promise<void>;
  readonly #all: Assembly;
  readonly #commands: CommandDoor;
  readonly #jobs: Jobs;
  readonly #ticks: TickLoop;
  readonly #stop = new AbortController();
  readonly #watchers: Watchers;
  readonly #startedAt: number;
  #resolveClosed: () => void = () => {};
  #starting: Promise<void> = Promise.resolve();
  #isStarted = false;
  #reading: WorkflowReading | null = null;
  #pollErrors: readonly PollError[] = [];

  constructor(parts: OrchestratorParts) {
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#startedAt = parts.clock.now();
    this.#watchers = new Watchers(parts.logger);
    this.#all = assemble({
      ...parts,
      // A tick in progress keeps the settings it began with.
      source: { read: () => this.#reading ?? parts.source.read() },
      stopping: this.#stop.signal,
      isStarted: () => this.#isStarted,
      notify: () => this.#watchers.notify(),
      requestTick: () => this.#lookNow(),
      reviewJobs: () => this.#jobs.review(),
      retryDue: (retrying) => this.#retryDue(retrying),
    });
    const { pending, pause, claims } = this.#all;
    this.#commands = new CommandDoor(this.#all);
    const onPollErrors = (errors: readonly PollError[]): void => {
      this.#pollErrors = errors;
    };
    this.#jobs = new Jobs(this.#all, recurringJobs({ ...this.#all, onPollErrors }));
    this.#ticks = new TickLoop({
      ...this.#all,
      jobs: this.#jobs,
      startedAt: this.#startedAt,
      pollErrors: () => this.#pollErrors,
      onBegin: () => {
        pending.own('commands', this.#commands.knock());
        this.#reading = parts.source.read();
      },
      onEnd: () => {
        this.#reading = null;
        // A drain is over when nothing runs any more.
        if (pause.state?.kind === 'drain' && claims.running.size === 0) void this.stop();
      },
    });
  }

  /**
   * Startup in this order: what was left behind before a restart is ended and inherited, workspaces of finished issues are
   * cleaned, then comes the first tick. Rejects when the store cannot be read.
   */
  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    const { logger, source, clock, lease, own } = this.#all;
    logger.info('orchestrator_started');
    for (const limit of limitsSwitchedOff(source.read().workflow.settings)) logger.warn('limit_off', { limit });
    lease.start();
    await endLeftoverProcesses(this.#all);
    await this.#takeUp();
    // What people asked for while no daemon ran comes before anything starts; a slow tracker does not hold it up for long.
    await within(clock, commandsFirstMs, this.#commands.knock());
    if (this.#stop.signal.aborted) return;
    this.#isStarted = true;
    await this.#jobs.start();
    own('cleanup', cleanAtStart(this.#all));
    this.refresh();
  }

  /** The store was put back to an earlier moment: what it says is true, except for the runs in progress. */
  reload(): void {
    const again = async (): Promise<void> => {
      await this.#all.claims.reload();
      await this.#takeUp();
      this.wake();
    };
    this.#all.own('reload', again());
  }

  /** A person wrote something that may concern the orchestrator: commands are carried out and the tracker is asked now. */
  wake(): void {
    const { reads, activity, own } = this.#all;
    if (this.#isStarted) own('commands', this.#commands.knock());
    activity.note();
    reads.forgetAll();
    // Perhaps an issue of our own board is over now. What is elsewhere does not change by what is done here.
    if (trackerNow(this.#all)?.isLocal === true) this.#jobs.ask('workspace_sweep', { atLeastMs: sweepAgainMs });
    this.refresh();
  }

  /** Asks for a tick and a poll now, also of a tracker that rests; while one is in progress, for one right after it. */
  refresh(): void {
    this.#all.reads.rest.lift();
    this.#lookNow();
  }

  #lookNow(): void {
    // Asked during the start, it is the first tick: before it nothing may begin.
    if (this.#stop.signal.aborted || !this.#isStarted) return;
    const isLocal = trackerNow(this.#all)?.isLocal === true;
    this.#jobs.ask('tracker_poll', { atLeastMs: isLocal ? 0 : pollAgainMs });
    this.#ticks.ask();
  }

  /** There may be a slot for a candidate that is known: a slot of this Baton was freed. */
  fillSlots(): void {
    this.#all.fillSlots();
  }

  /** What a tick would do now, after what must have survived was read; nothing is started. */
  async preview(beside: readonly ClaimBeside[] = []): Promise<readonly DispatchDecision[]> {
    await this.#lookFromOutside();
    return previewDispatch(this.#all, beside);
  }

  async explain(reference: string, by: Explainer = 'daemon'): Promise<Explanation> {
    if (by === 'visitor') await this.#lookFromOutside();
    return explainIssue(this.#all, reference, by);
  }

  /** Removes the workspaces that may go; also before a start, for a person who runs no daemon. */
  prune(wish: SweepWish): Promise<SweepReport> {
    return this.#all.sweep.run(wish);
  }

  /** Stops everything and resolves when no run is left. Calling it again waits for the same end. */
  async stop(): Promise<void> {
    if (!this.#stop.signal.aborted) {
      const { claims, logger, journal, pool, pending, lease, retryTimers } = this.#all;
      logger.info('orchestrator_stopping', { running: claims.running.size });
      this.#stop.abort();
      this.#ticks.stop();
      const jobsEnd = this.#jobs.stop();
      // What it inherits is being ended or written; whoever started it hears of its error.
      await this.#starting.catch(() => {});
      retryTimers.stop();
      await endRuns(this.#all, this.#ticks.inProgress);
      await jobsEnd;
      await pending.drain();
      await journal.flush();
      lease.stop();
      await giveClaimsBack(this.#all);
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
    return readModel(this.#all, {
      startedAt: this.#startedAt,
      nextPollDueAt: this.#jobs.dueAt('tracker_poll'),
      pollCheckInProgress: this.#ticks.inProgress !== null || this.#jobs.isRunning('tracker_poll'),
      ticks: this.#ticks.number,
      errors: [...errorsIn(this.#ticks.steps), ...this.#pollErrors],
      jobs: this.#jobs.views(),
    });
  }

  /** The number of the newest event of a run in progress, written or not; null for any other run. */
  lastSeqOf(runId: string): number | null {
    return this.#all.journal.lastSeqOf(runId);
  }

  onChange(watcher: () => void): () => void {
    return this.#watchers.add(watcher);
  }

  /** Reads what must have survived, and inherits what nobody has. */
  async #takeUp(): Promise<void> {
    const { pause, spending, landings, accounts } = this.#all;
    await pause.read();
    await spending.read();
    await landings.read();
    await accounts.read();
    await inheritAll(this.#all, await findOrphans(this.#all));
  }

  /** What the store says is going on, for a visitor who only looks: nothing is claimed, scheduled or changed. */
  async #lookFromOutside(): Promise<void> {
    const { pause, spending, accounts, room, claims, candidates, reads, store, project, clock, source } = this.#all;
    await pause.read();
    await spending.read();
    await accounts.read();
    await room.look();
    claims.show(await store.recovery(project, clock.now()));
    const { agent, tracker } = source.read().workflow.settings;
    if (agent.maxInReview > 0)
      candidates.countInReview(await reads.byStates(tracker.reviewStates, { job: 'visitor', cause: 'person' }));
  }

  /** What comes due during the start waits for its end: before it others are still being inherited. */
  async #retryDue(retrying: Retrying): Promise<void> {
    await this.#starting;
    if (this.#all.claims.get(retrying.issue.id) === retrying) await this.#all.retries.try(retrying);
  }
}

/** What the parts need of the orchestrator around them. */
interface Surroundings extends OrchestratorParts {
  readonly stopping: AbortSignal;
  readonly isStarted: () => boolean;
  readonly notify: () => void;
  readonly requestTick: () => void;
  readonly reviewJobs: () => void;
  readonly retryDue: (retrying: Retrying) => Promise<void>;
}

type Assembly = ReturnType<typeof assemble>;

/** Makes the parts and connects them; what depends on claims listens to their changes. */
function assemble(around: Surroundings) {
  const { clock, logger, source, stopping, notify, pool, trackerFor } = around;
  const pending = new PendingWork(logger);
  const own = (what: string, work: Promise<unknown>): void => pending.own(what, work);
  const leaseMs = (): number => source.read().workflow.settings.store.leaseMs;
  const base = { ...around, own, leaseMs };

  const claims = new Claims(base);
  const withClaims = { ...base, claims };
  const retryTimers = new RetryTimers({
    ...withClaims,
    onDue: (retrying) => own('retry', around.retryDue(retrying)),
  });
  const candidates = new Candidates(source);
  const activity = new Activity({ ...base, onActivity: around.reviewJobs });
  const reads: TrackerReads = new TrackerReads({
    clock,
    stopping,
    tracker: () => trackerFor(source.read().workflow.settings),
    freshnessMs: () => source.read().workflow.settings.polling.freshnessMs,
    restMs: (failures) => restMs({ ...base, activity }, failures),
    soon: () => retries.dueSoon(),
  });
  const journal = new Journal(base);
  const spending = new Spending(withClaims);
  const pause = new Pause(base);
  const landings = new Landings(withClaims);
  const skipped = skippedIssues(claims);
  const totals = noTotals();
  const fillSlots = (): void => {
    if (!stopping.aborted && around.isStarted()) filler.fill();
  };
  const room = new HeadroomWatch({ ...base, onRoomAgain: fillSlots });
  const accounts = new AccountBook({
    ...base,
    onMended: () => {
      if (retries.accountReady()) fillSlots();
    },
  });
  const cleaner = new WorkspaceCleaner({ ...withClaims, reads, onCleaned: fillSlots });
  const sweep = new WorkspaceSweep({ ...withClaims, reads, cleaner, onCleaned: fillSlots });
  const due = new DueReads(base);
  const givenBack = (issue: Issue): void => {
    landings.follow(issue);
    if (stateClass(issue.state, source.read().workflow.settings.tracker) !== 'terminal') return;
    landings.landed(issue);
    own('cleanup', cleaner.cleanAfterLastRun(issue));
  };
  const known = {
    ...withClaims,
    accounts,
    activity,
    candidates,
    cleaner,
    due,
    fillSlots,
    givenBack,
    journal,
    landings,
    leaseMs,
    pause,
    pending,
    reads,
    room,
    skipped,
    spending,
    sweep,
    totals,
    cleaning: () => [...cleaner.cleaning],
    isCleaning: (issueId: string) => cleaner.cleaning.has(issueId),
    findOrphansSoon: () => due.orphansSoon(),
    onCleaned: fillSlots,
    polled: fillSlots,
    withWorkspace: () => sweep.withWorkspace(),
  };
  const stopRun: Runs['stop'] = (running, reason) => runs.stop(running, reason);
  const questions = new OpenQuestions({ ...known, stopRun });
  const lease = new LeaseKeeper({ ...known, stopRun });
  const runs: Runs = new Runs({
    ...known,
    questions,
    isClaimSafe: (claimedAt) => lease.isSafe(claimedAt),
    inherit: (issueId) => own('inherit', inheritAll(known, [issueId])),
  });
  const startRun: Runs['start'] = (start) => runs.start(start);
  const retries: Retries = new Retries({ ...known, startRun });
  const filler: SlotFiller = new SlotFiller({ ...known, retries, startRun });
  const queueHealth = new QueueHealth(known);

  claims.onChange((change) => {
    if (isOver(change) && change.by === 'not_begun') pool?.giveBack();
    else if (isOver(change)) pool?.free();
    else if (change.by === 'begin') pool?.take();
    if (change.by === 'begin' || change.by === 'settle') activity.note();
    const isOffHold = change.before?.status === 'held' && change.after !== change.before;
    if (isOver(change) || isOffHold || change.by === 'move') reads.forget(change.issueId);
    notify();
    if (change.by === 'settle' || (change.by === 'release' && change.after === null)) fillSlots();
  });

  return {
    ...known,
    lease,
    queueHealth,
    questions,
    retries,
    retryTimers,
    runs,
    stopRun,
    endRetry: (retrying: Retrying, fresh: Issue | null) => retries.end(retrying, fresh),
    inheritOrphans: async () => {
      const orphans = await findOrphans(known);
      if (orphans.length > 0) own('inherit', inheritAll(known, orphans));
    },
    serveRetries: () => own('retries', retries.serveWaiting()),
  };
}

/** A run has ended, or did not begin. */
function isOver({ before, after }: ClaimChange): boolean {
  return before?.status === 'running' && after !== before;
}
