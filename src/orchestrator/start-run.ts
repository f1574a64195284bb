import type { AgentEvent } from '../agent/agent.ts';
import { type Issue, normalizeState } from '../core/issue.ts';
import { unseen } from '../core/run-evidence.ts';
import { stateOnceStarted } from '../core/slots.ts';
import type { Workflow } from '../core/workflow.ts';
import type { RunWatcher } from '../runner/runner.ts';
import { adoptAll } from './adopt.ts';
import { checkLimits } from './check-limits.ts';
import type { OrchestratorContext } from './context.ts';
import { countReview } from './count-review.ts';
import { waitingForPerson } from './person-time.ts';
import { startRecordedRun } from './recorded-run.ts';
import { nothingUsed, usageAfter } from './run-usage.ts';
import { scheduleLook } from './schedule-look.ts';
import type { IssueName, RetryEntry, RunningEntry } from './scheduling-state.ts';

export interface RunStart {
  readonly issue: Issue;
  readonly workflow: Workflow;
  /** The look that led to this start; null for an issue that was free. */
  readonly look: RetryEntry | null;
}

/** How soon a start that could not be written down is tried again. */
const tryAgainMs = 1_000;

/**
 * Starts a run. The caller has just looked that the issue is free and that there is a slot, with no await between; this
 * is the only place that adds to `running`. What was decided here is tried in the store next, and only what the store
 * accepts begins.
 */
export function startRun(context: OrchestratorContext, start: RunStart): void {
  const { state, clock, chance, pool } = context;
  const { issue, workflow, look } = start;
  const runId = chance.id();
  const movedTo = stateOnceStarted(issue, context.trackerFor(workflow.settings).startMove);
  const entry: RunningEntry = {
    runId,
    issue,
    movesTo: movedTo === issue.state ? null : movedTo,
    attempt: look?.attempt ?? null,
    retryKind: look?.kind ?? null,
    recovery: look?.recovery ?? null,
    account: null,
    workflow,
    run: startRecordedRun(context, {
      runId,
      issue,
      workflow,
      attempt: look?.attempt ?? null,
      retryKind: look?.kind ?? null,
      recovery: look?.recovery ?? null,
      note: look?.note ?? null,
      ask: (question, signal) =>
        waitingForPerson(entry, clock, context.questions.ask({ issue: nameOf(issue), runId }, question, signal)),
      watcher: watchRun(context, issue.id, runId),
      onBegun: (before, account) => {
        entry.before = before;
        entry.account = account;
        state.totals.runs += 1;
        context.notify();
      },
      onMoved: (moved) => {
        entry.issue = moved;
        entry.movesTo = null;
      },
    }),
    startedAt: clock.now(),
    startedAtMonotonic: clock.monotonic(),
    before: null,
    lastEventAtMonotonic: null,
    lastEvent: null,
    stage: 'preparing_workspace',
    turn: 0,
    workspace: null,
    threadId: null,
    process: null,
    usage: nothingUsed,
    changed: null,
    warnings: [],
    processMissedAt: null,
    stopRequested: null,
    personWaits: { open: 0, since: 0, totalMs: 0 },
    settlingSince: null,
    holdAfterwards: null,
    ownMove: null,
  };
  state.running.set(issue.id, entry);
  state.skipped.delete(issue.id);
  pool?.take();
  context.activity.note();
  void entry.run.notBegun.then((why) => {
    if (why !== null) giveUpStart(context, entry, look, why);
  });
  void entry.run.outcome.then((outcome) => context.runEnded(entry, outcome));
  context.notify();
}

/** The store did not take the start: nothing has begun, and the issue is as free as it was before. */
function giveUpStart(
  context: OrchestratorContext,
  entry: RunningEntry,
  look: RetryEntry | null,
  why: NonNullable<Awaited<RunningEntry['run']['notBegun']>>,
): void {
  const { state, pool } = context;
  const { issue } = entry;
  state.running.delete(issue.id);
  context.own('account', context.accounts.probeEnded(entry.runId));
  pool?.giveBack();
  if (why.held !== null) state.held.set(issue.id, why.held);
  else if (why.isLost) {
    state.generations.delete(issue.id);
    // Perhaps nobody has it, and it was only left behind: then it is ours to take over.
    if (!context.stopping.aborted) context.own('takeover', adoptAll(context, [issue.id]));
  } else if (look !== null)
    scheduleLook(context, look, { delayMs: tryAgainMs, why: why.reason, slotWaits: look.slotWaits });
  state.skipped.set(issue.id, { issue, reason: why.reason });
  context.notify();
}

/** Writes what a run tells into its entry. A run that is not the issue's current one is not listened to. */
function watchRun(context: OrchestratorContext, issueId: string, runId: string): RunWatcher {
  const { journal, clock } = context;
  let evidence = unseen;
  let movedBefore: RunningEntry['ownMove'] = null;
  const update = (change: Partial<RunningEntry>): void => {
    const entry = context.state.running.get(issueId);
    if (entry?.runId !== runId) return;
    Object.assign(entry, change);
    context.notify();
  };
  return {
    onStage: (stage) => {
      // For the journal alone: it is Baton that goes on, which says nothing of whether the agent lives.
      journal.note(runId, {}, { name: 'stage_changed', at: clock.now(), pid: null, summary: stage });
      update({ stage });
    },
    onWorkspace: (workspace) => {
      journal.note(runId, { workspace });
      update({ workspace });
    },
    onProcess: (process) => {
      if (process !== null) journal.note(runId, { pid: process.pid, pidStartTime: process.startTime });
      update({ process, processMissedAt: null });
    },
    onSession: (threadId) => {
      journal.note(runId, { threadId });
      // Not with the rest a moment later: whoever comes after a crash goes on with this conversation.
      context.own('journal', journal.flush());
      update({ threadId });
    },
    onMove: (state) => {
      context.reads.forget(issueId);
      if (state !== null) countReview(context, issueId, state);
      movedBefore = context.state.running.get(issueId)?.ownMove ?? null;
      update({ ownMove: { to: state === null ? null : normalizeState(state), atMonotonic: clock.monotonic() } });
    },
    onNotMoved: () => {
      context.reads.forget(issueId);
      update({ ownMove: movedBefore });
    },
    onChanged: (changed, facts) => {
      evidence = { changed, fingerprint: facts?.fingerprint ?? null, git: facts?.git ?? null };
      journal.note(runId, { evidence });
      update({ changed });
    },
    onDelivery: (delivery) => {
      evidence = { ...evidence, delivery };
      journal.note(runId, { evidence });
    },
    onTurn: (turn) => {
      journal.note(runId, { turns: turn });
      update({ turn });
    },
    onMessage: (lastMessage) => journal.note(runId, { lastMessage }),
    onAnswersTold: () => {},
    onEvent: (event) => {
      const entry = context.state.running.get(issueId);
      // That a person speaks says nothing of whether the agent lives, nor of what it does.
      if (entry?.runId !== runId || event.name === 'person_said') return journal.note(runId, {}, event);
      if (event.quota !== undefined && entry.account !== null) context.accounts.report(entry.account, event.quota);
      if (event.name === 'turn_completed') turnCompleted(context, entry);
      const change = eventChange(context, entry, event);
      journal.note(runId, change.usage ?? {}, event);
      update(change);
      if (event.usage !== undefined) checkLimits(context, entry);
    },
  };
}

function turnCompleted({ accounts, own }: OrchestratorContext, { runId, account, startedAt }: RunningEntry): void {
  if (account !== null) own('account', accounts.turnCompleted({ runId, account, startedAt }));
}

function nameOf({ id, identifier, url }: Issue): IssueName {
  return { id, identifier, url };
}

/** The totals grow by what is new in a report. */
function eventChange(
  { clock, state }: OrchestratorContext,
  entry: RunningEntry,
  event: AgentEvent,
): Partial<RunningEntry> {
  // The transcript has all of it.
  const { payload: _large, ...lastEvent } = event;
  const seen = { lastEvent, lastEventAtMonotonic: clock.monotonic() };
  if (event.usage === undefined) return seen;
  const before = entry.usage;
  const usage = usageAfter(before, event.usage, entry.workflow.settings.agent.prices);
  state.totals.inputTokens += usage.inputTokens - before.inputTokens;
  state.totals.outputTokens += usage.outputTokens - before.outputTokens;
  state.totals.totalTokens += usage.totalTokens - before.totalTokens;
  return { ...seen, usage };
}
