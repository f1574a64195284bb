import { within } from '../clock/clock.ts';
import type { DispatchDecision } from '../core/dispatch/dispatch-plan.ts';
import type { PruneRow } from '../core/prune.ts';
import { limitsSwitchedOff } from '../core/run/limits.ts';
import type { WorkflowReading } from '../core/workflow.ts';
import type { Command, CommandResult } from '../store/tables/commands.ts';
import { type Assembly, assemble, type OrchestratorParts } from './assemble.ts';
import type { Retrying } from './claims/claim.ts';
import { endLeftoverProcesses, findOrphans, inheritAll } from './claims/inherit.ts';
import { CommandQueue } from './commands/command-queue.ts';
import type { OtherClaim } from './dispatch/gates.ts';
import { previewDispatch } from './dispatch/slot-filler.ts';
import { Jobs } from './jobs/jobs.ts';
import type { PruneWish } from './jobs/pruning.ts';
import { recurringJobs } from './jobs/recurring-jobs.ts';
import { trackerNow } from './poll/pace.ts';
import type { PollError } from './poll/poll.ts';
import { endRuns, releaseClaims } from './shut-down.ts';
import { TickLoop } from './tick-loop.ts';
import { errorsIn } from './tick-steps.ts';
import { type Explainer, type Explanation, explainIssue } from './view/explain.ts';
import { type ReadModel, readModel } from './view/read-model.ts';
import { Watchers } from './view/watchers.ts';
import { cleanAtStart } from './workspaces/clean-at-start.ts';
import type { SweepReport, SweepRequest } from './workspaces/sweep-workspaces.ts';

/** How long the first tick waits for commands in the queue. */
const commandsFirstMs = 5_000;
/** Several changes by a person in a row cause one sweep. */
const sweepAgainMs = 2_000;
/** The same for polls of a remote tracker: the first poll runs at once, the others share the next one. */
const pollAgainMs = 1_000;
/** Commands about the daemon or a live run: they do not change the issue in the tracker. */
const needsNoRead: ReadonlySet<string> = new Set([
  'pause',
  'drain',
  'reload',
  'issue_steer',
  'workspaces_prune',
  'prune',
]);

/**
 * The only authority over scheduling. It ticks at once when started, then every few seconds; a tick only decides and
 * begins things. Every other concern is a job at its own pace, including the poll of the tracker. Exits, due retries
 * and commands are served when they come. It is stopped once: nothing new starts, every run is stopped, and `closed`
 * resolves when all of them are gone.
 */
export class Orchestrator {
  readonly closed: Promise<void>;
  readonly #all: Assembly;
  readonly #commands: CommandQueue;
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
      source: {
        read: () => this.#reading ?? parts.source.read(),
        takeWaiting: (revision) => parts.source.takeWaiting?.(revision) ?? 'none_wait',
      },
      stopping: this.#stop.signal,
      isStarted: () => this.#isStarted,
      notify: () => this.#watchers.notify(),
      requestTick: () => this.#tickAndPoll(),
      reviewJobs: () => this.#jobs.review(),
      retryDue: (retrying) => this.#retryDue(retrying),
    });
    const { pending, pause, claims } = this.#all;
    this.#commands = new CommandQueue(this.#all);
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
        pending.own('commands', this.#commands.drain());
        this.#reading = parts.source.read();
      },
      onEnd: () => {
        this.#reading = null;
        // A drain is finished when nothing runs any more.
        if (pause.state?.kind === 'drain' && claims.running.size === 0) void this.stop();
      },
    });
  }

  /**
   * Startup in this order: ends and inherits what was left before a restart, cleans the workspaces of finished issues,
   * then ticks for the first time. Rejects when the store cannot be read.
   */
  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    const { logger, source, clock, lease, own, mayStart } = this.#all;
    logger.info('orchestrator_started');
    for (const limit of limitsSwitchedOff(source.read().workflow.settings)) logger.warn('limit_off', { limit });
    lease.start();
    await endLeftoverProcesses(this.#all);
    await this.#readState();
    // Commands from the time without a daemon come before anything starts; a slow tracker does not delay this for long.
    await within(clock, commandsFirstMs, this.#commands.drain());
    if (this.#stop.signal.aborted) return;
    await this.#jobs.start();
    await mayStart;
    if (this.#stop.signal.aborted) return;
    this.#isStarted = true;
    own('cleanup', cleanAtStart(this.#all));
    this.#ticks.ask();
    this.fillSlots();
  }

  /** The store was restored to an earlier moment: its content is valid, except for the runs in progress. */
  reload(): void {
    const again = async (): Promise<void> => {
      await this.#all.claims.reload();
      this.#all.phases.readAgain();
      await this.#readState();
      this.wake();
    };
    this.#all.own('reload', again());
  }

  /**
   * Another program wrote something that may concern the orchestrator: carries out commands and polls the tracker now.
   */
  wake(): void {
    if (this.#isStarted) this.#all.own('commands', this.#commands.drain());
    this.#all.activity.note();
    this.#readAgain();
  }

  /**
   * Carries out a command that this process wrote. Returns its answer, or null when the daemon stops before there is
   * one.
   */
  carryOut({ id, kind }: Pick<Command, 'id' | 'kind'>): Promise<CommandResult | null> {
    const answer = this.#commands.answerTo(id);
    if (this.#isStarted) this.#all.own('commands', this.#commands.drain());
    this.#all.activity.note();
    if (!needsNoRead.has(kind)) this.#readAgain();
    return answer;
  }

  /** A person may have changed an issue: earlier reads are no longer valid. */
  #readAgain(): void {
    this.#all.reads.forgetAll();
    // An issue of the local board may have finished. A command here does not change a remote tracker.
    if (trackerNow(this.#all)?.isLocal === true) this.#jobs.ask('workspace_sweep', { atLeastMs: sweepAgainMs });
    this.refresh();
  }

  /**
   * Asks for a tick and a poll now, even of a tracker that rests; if one is in progress, another follows right after
   * it.
   */
  refresh(): void {
    this.#all.reads.backoff.lift();
    this.#tickAndPoll();
  }

  #tickAndPoll(): void {
    if (this.#stop.signal.aborted) return;
    const isLocal = trackerNow(this.#all)?.isLocal === true;
    this.#jobs.ask('tracker_poll', { atLeastMs: isLocal ? 0 : pollAgainMs });
    // During the start this request becomes the first tick: nothing may begin before it.
    if (this.#isStarted) this.#ticks.ask();
  }

  /** A shared slot was freed: a known candidate may use it. */
  fillSlots(): void {
    this.#all.fillSlots();
  }

  /** What a tick would do now, after reading the stored state; starts nothing. */
  async preview(otherClaims: readonly OtherClaim[] = []): Promise<readonly DispatchDecision[]> {
    await this.#readForVisitor();
    return previewDispatch(this.#all, otherClaims);
  }

  async explain(reference: string, by: Explainer = 'daemon'): Promise<Explanation> {
    if (by === 'visitor') await this.#readForVisitor();
    return explainIssue(this.#all, reference, by);
  }

  /** Removes the workspaces that may go; also before a start, for a person who runs no daemon. */
  prune(request: SweepRequest): Promise<SweepReport> {
    return this.#all.sweep.run(request);
  }

  /** Removes what is past its retention, or says what that is; also before a start. Never rejects. */
  async pruneAll(wish: PruneWish, by: Explainer = 'daemon'): Promise<readonly PruneRow[]> {
    if (by === 'visitor') await this.#readForVisitor();
    return this.#all.pruning.everything(wish);
  }

  /** Stops everything and resolves when no run is left. Calling it again waits for the same end. */
  async stop(): Promise<void> {
    if (!this.#stop.signal.aborted) {
      const { claims, logger, journal, pool, pending, lease, retryTimers } = this.#all;
      logger.info('orchestrator_stopping', { running: claims.running.size });
      this.#stop.abort();
      this.#ticks.stop();
      const jobsEnd = this.#jobs.stop();
      // The start may still be ending or writing what it inherits. The caller of `start` gets its error.
      await this.#starting.catch(() => {});
      retryTimers.stop();
      await endRuns(this.#all, this.#ticks.inProgress);
      await jobsEnd;
      await pending.drain();
      await journal.flush();
      lease.stop();
      await releaseClaims(this.#all);
      pool?.leave();
      this.#watchers.notify();
      this.#resolveClosed();
    }
    return this.closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** The current state, as a copy that does not change. Never waits. */
  read(): ReadModel {
    return readModel(this.#all, {
      startedAt: this.#startedAt,
      nextPollDueAt: this.#jobs.dueAt('tracker_poll'),
      pollCheckInProgress: this.#ticks.inProgress !== null || this.#jobs.isRunning('tracker_poll'),
      ticks: this.#ticks.number,
      errors: [...errorsIn(this.#ticks.steps), ...this.#pollErrors],
      jobs: this.#jobs.views(),
      stepTimes: this.#ticks.totals,
    });
  }

  /** The number of the newest event of a run in progress, written or not; null for any other run. */
  lastSeqOf(runId: string): number | null {
    return this.#all.journal.lastSeqOf(runId);
  }

  onChange(watcher: () => void): () => void {
    return this.#watchers.add(watcher);
  }

  /** Reads the stored state, and inherits issues that no daemon has. */
  async #readState(): Promise<void> {
    const { pause, spending, finishedIssues, accounts } = this.#all;
    await pause.read();
    await spending.read();
    await finishedIssues.read();
    await accounts.read();
    await inheritAll(this.#all, await findOrphans(this.#all));
  }

  /** Reads the stored state for a visitor: claims, schedules and changes nothing. */
  async #readForVisitor(): Promise<void> {
    const { pause, spending, accounts, headroom, claims, candidates, reads, store, project, clock, source } = this.#all;
    await pause.read();
    await spending.read();
    await accounts.read();
    await headroom.refresh();
    claims.show(await store.recovery(project, clock.now()));
    const { agent, tracker } = source.read().workflow.settings;
    if (agent.maxInReview > 0)
      candidates.countInReview(await reads.byStates(tracker.reviewStates, { job: 'visitor', cause: 'person' }));
  }

  /** A retry that is due during the start waits for its end: until then other issues are still being inherited. */
  async #retryDue(retrying: Retrying): Promise<void> {
    await this.#starting;
    if (this.#all.claims.get(retrying.issue.id) === retrying) await this.#all.retries.try(retrying);
  }
}
