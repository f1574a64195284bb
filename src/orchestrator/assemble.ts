import type { AgentEvent } from '../agent/agent.ts';
import { stateClass } from '../core/dispatch/eligibility.ts';
import type { Headroom } from '../core/dispatch/headroom.ts';
import type { Issue } from '../core/issue/issue.ts';
import type { Role } from '../core/run/role.ts';
import type { Settings } from '../core/settings.ts';
import { isTaskId } from '../core/task/task.ts';
import type { PullRequests } from '../pulls/pull-requests.ts';
import type { Runner } from '../runner/runner.ts';
import type { Transcripts } from '../store/transcripts/transcript-files.ts';
import type { ClaimChange, Retrying } from './claims/claim.ts';
import { Claims } from './claims/claims.ts';
import { findOrphans, inheritAll } from './claims/inherit.ts';
import { LeaseKeeper } from './claims/lease-keeper.ts';
import { RetryTimers } from './claims/retry-timers.ts';
import { Pause } from './commands/pause.ts';
import { EnvironmentWatch } from './dispatch/environment.ts';
import { HeadroomWatch } from './dispatch/headroom.ts';
import { Retries, type RetriesParts } from './dispatch/retry.ts';
import { skippedIssues, waitingForSlot } from './dispatch/skipped.ts';
import { SlotFiller } from './dispatch/slot-filler.ts';
import type { PoolMember } from './dispatch/slot-pool.ts';
import { type FilePruning, Pruning } from './jobs/pruning.ts';
import { QueueHealth } from './jobs/queue-health.ts';
import type { BaseParts, EndedRun, Trial } from './parts.ts';
import { PendingWork } from './pending-work.ts';
import { LabelMirror } from './pipeline/label-mirror.ts';
import { Phases } from './pipeline/phases.ts';
import { decidePending } from './pipeline/transitions.ts';
import { deliverParent } from './planner/deliver-parent.ts';
import { finishPlan as finishStoredPlan } from './planner/make-plan.ts';
import { Activity } from './poll/activity.ts';
import { Candidates } from './poll/candidates.ts';
import { ChangeMarks } from './poll/change-marks.ts';
import { FinishedIssues } from './poll/finished-issues.ts';
import { backoffMs } from './poll/pace.ts';
import { TrackerReads } from './poll/tracker-reads.ts';
import { AutoMerge } from './review/auto-merge.ts';
import { HandDeliveries } from './review/deliver-by-hand.ts';
import { deliverChange } from './review/deliver-change.ts';
import { Judges } from './review/judges.ts';
import { PullWatch, type WatchPullsParts } from './review/watch-pulls.ts';
import { Accounts } from './runs/accounts.ts';
import { Journal } from './runs/journal.ts';
import { OpenQuestions } from './runs/open-questions.ts';
import { noTotals } from './runs/run-totals.ts';
import { Runs } from './runs/runs.ts';
import { Spending } from './runs/spending.ts';
import { StatusMoves } from './status/status-moves.ts';
import { OpenProposals } from './tasks/open-proposals.ts';
import { DueReads } from './tick-steps.ts';
import type { Health } from './view/health.ts';
import { WorkspaceCleaner } from './workspaces/clean-workspaces.ts';
import { WorkspaceSweep } from './workspaces/sweep-workspaces.ts';

export interface OrchestratorParts extends Omit<BaseParts, 'leaseMs' | 'notify' | 'own' | 'requestTick' | 'stopping'> {
  readonly runner: Runner;
  readonly transcripts: Transcripts;
  /** Free disk and memory for new work. May hang, or reject: then it is unknown. */
  readonly readHeadroom: (settings: Settings) => Promise<Headroom>;
  /** Removes files and branches that are older than the settings allow. */
  readonly files: FilePruning;
  /** The host of pull requests; null for a project without a repository. */
  readonly pullsFor: (settings: Settings) => PullRequests | null;
  readonly runChecks: WatchPullsParts['runChecks'];
  /** Reads which requests other daemons on the store have sent to remote services. May reject. */
  readonly refreshRequests: () => Promise<void>;
  /** When a person last touched the activity file, wall time; null when there is no such file. */
  readonly touchedAt: () => number | null;
  /** Slots that several projects of this daemon share; null when it has one project. */
  readonly pool: PoolMember | null;
  /** Limits a trial to these issues (ids or identifiers) and to a number of runs; null: no limit. */
  readonly trial: Trial | null;
  /** Called with each event of a run and its number. Must be quick and must not throw. */
  readonly onRunEvent?: (runId: string, seq: number, event: AgentEvent) => void;
  /** Called for each run that has ended. Must be quick and must not throw. */
  readonly onRunEnd?: (run: EndedRun) => void;
  readonly onHealth: (health: Health) => void;
  /** Resolves when programs may start; until then only the tracker is read. If it rejects, so does the start. */
  readonly mayStart?: Promise<void>;
}

/** What the parts need from the orchestrator. */
interface AssemblyParts extends OrchestratorParts {
  readonly stopping: AbortSignal;
  readonly isStarted: () => boolean;
  readonly notify: () => void;
  readonly requestTick: () => void;
  readonly reviewJobs: () => void;
  readonly retryDue: (retrying: Retrying) => Promise<void>;
}

export type Assembly = ReturnType<typeof assemble>;

/** Turns that end within this time share one read of their issues. An agent takes many times as long to begin another. */
const turnsTogetherMs = 150;

/** Creates the parts and connects them. Parts that depend on claims listen to claim changes. */
export function assemble(around: AssemblyParts) {
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
    backoffMs: (failures) => backoffMs({ ...base, activity }, failures),
    soon: (count) => [...retries.dueSoon(), ...waitingForSlot(skipped, count)],
    gatherMs: () => {
      const isShareable = claims.running.size > 1 && trackerFor(source.read().workflow.settings).isLocal !== true;
      return isShareable ? turnsTogetherMs : 0;
    },
    mostGathered: () => claims.running.size,
  });
  const journal = new Journal(base);
  const spending = new Spending(withClaims);
  const pause = new Pause(base);
  const finishedIssues = new FinishedIssues(withClaims);
  const marks = new ChangeMarks(withClaims);
  const skipped = skippedIssues(claims);
  const totals = noTotals();
  const fillSlots = (): void => {
    if (!stopping.aborted && around.isStarted()) filler.fill();
  };
  const headroom = new HeadroomWatch({ ...base, onHeadroomBack: fillSlots });
  const environment = new EnvironmentWatch({ ...withClaims, onMayStart: fillSlots });
  const accounts = new Accounts({
    ...base,
    onWorkingAgain: () => {
      if (retries.accountReady()) fillSlots();
    },
  });
  const cleaner = new WorkspaceCleaner({ ...withClaims, reads, onCleaned: fillSlots });
  const sweep = new WorkspaceSweep({ ...withClaims, reads, cleaner, onCleaned: fillSlots });
  const due = new DueReads(base);
  const onReleased = (issue: Issue): void => {
    if (isTaskId(issue.id)) return;
    finishedIssues.follow(issue);
    if (stateClass(issue.state, source.read().workflow.settings.tracker) !== 'terminal') return;
    finishedIssues.finished(issue);
    own('cleanup', cleaner.cleanAfterLastRun(issue));
  };
  const phases = new Phases(base);
  const proposals = new OpenProposals(base);
  const judges = new Judges({
    source,
    phases,
    pullWatch: {
      get open() {
        return pullWatch.open;
      },
      get isRead() {
        return pullWatch.isRead;
      },
    },
  });
  const known = {
    ...withClaims,
    accounts,
    activity,
    candidates,
    cleaner,
    due,
    fillSlots,
    onReleased,
    journal,
    judges,
    phases,
    proposals,
    finishedIssues,
    leaseMs,
    marks,
    pause,
    pending,
    reads,
    headroom,
    environment,
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
  const pullWatch: PullWatch = new PullWatch({ ...known, autoMerge: new AutoMerge(known) });
  const stopRun: Runs['stop'] = (running, reason) => runs.stop(running, reason);
  const questions = new OpenQuestions({ ...known, stopRun });
  const lease = new LeaseKeeper({ ...known, stopRun });
  const runs: Runs = new Runs({
    ...known,
    questions,
    isClaimSafe: (claimedAt) => lease.isSafe(claimedAt),
    inherit: (issueId) => own('inherit', inheritAll(known, [issueId])),
  });
  const labels = new LabelMirror({ ...known, stopRun });
  const startRun: Runs['start'] = (start) => runs.start(start);
  const handDeliveries = new HandDeliveries(known);
  const deliver: RetriesParts['deliver'] = async (retrying) => {
    const asParent = await deliverParent(known, retrying);
    const issue = asParent === undefined ? await deliverChange(known, retrying) : asParent;
    // Its checks begin at once.
    own('pull requests', pullWatch.run());
    return issue;
  };
  const finishPlan: RetriesParts['finishPlan'] = (retrying) =>
    finishStoredPlan({ ...known, plans: phases.plans }, retrying);
  const retries: Retries = new Retries({ ...known, handDeliveries, startRun, deliver, finishPlan });
  const filler: SlotFiller = new SlotFiller({ ...known, retries, startRun });
  const queueHealth = new QueueHealth(known);
  const statusMoves = new StatusMoves(known);
  const pruning = new Pruning({ ...known, onPruned: around.requestTick });

  claims.onChange(({ by, issueId, after }) => {
    if (isOnlyOfMemory.has(by)) return;
    phases.forget(issueId);
    // Rows show the phase: it must not be missing until the next decision.
    if (after !== null) own('phases', phases.know([issueId]));
  });
  claims.onChange((change) => {
    if (pool !== null) shareSlot(pool, change);
    if (change.by === 'begin' || change.by === 'settle') activity.note();
    const isOffHold = change.before?.status === 'held' && change.after !== change.before;
    // The end of a run has forgotten its issue and read it again.
    const isUnread = isOver(change) && change.by !== 'settle';
    if (isUnread || isOffHold || change.by === 'move') reads.forget(change.issueId);
    notify();
    if (change.by === 'settle' || (change.by === 'release' && change.after === null)) fillSlots();
    // What follows from a verdict happens at once.
    if (change.by === 'settle' && roleIn(change) === 'judge') own('pull requests', pullWatch.run());
  });

  return {
    ...known,
    lease,
    pruning,
    queueHealth,
    pullWatch,
    handDeliveries,
    statusMoves,
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
    decidePending: () => decidePending(known),
    checkLabels: () => labels.check(),
    expireRevisions: () => labels.expire(),
    serveRetries: () => own('retries', retries.serveWaiting()),
  };
}

/** Changes of claims with which nothing about a phase is written. */
const isOnlyOfMemory: ReadonlySet<ClaimChange['by']> = new Set(['begin', 'postpone', 'refresh', 'move']);

function shareSlot(pool: PoolMember, change: ClaimChange): void {
  const role = roleIn(change);
  if (isOver(change) && change.by === 'not_begun') pool.giveBack(role);
  else if (isOver(change)) pool.free(role);
  else if (change.by === 'begin') pool.take(role);
}

/** Of the run that begins or ends. */
function roleIn({ before, after }: ClaimChange): Role {
  const run = [before, after].find((claim) => claim?.status === 'running');
  return run?.status === 'running' ? run.role : 'worker';
}

/** A run has ended, or did not begin. */
function isOver({ before, after }: ClaimChange): boolean {
  return before?.status === 'running' && after !== before;
}
