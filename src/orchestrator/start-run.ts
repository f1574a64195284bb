import type { AgentEvent } from '../agent/agent.ts';
import { type Issue, normalizeState } from '../core/issue.ts';
import type { RetryKind, Workflow } from '../core/workflow.ts';
import type { RunWatcher } from '../runner/runner.ts';
import type { RunStart as RunRecordStart } from '../store/runs.ts';
import type { OrchestratorContext } from './context.ts';
import { startRecordedRun } from './recorded-run.ts';
import type { RunningEntry } from './scheduling-state.ts';

export interface RunStart {
  readonly issue: Issue;
  readonly workflow: Workflow;
  readonly attempt: number | null;
  readonly retryKind: RetryKind | null;
  readonly failures: number;
}

/**
 * Starts a run and claims its issue. The caller has just looked that the issue is free and that there is a slot, with no
 * await between; this is the only place that adds to `running`.
 */
export function startRun(context: OrchestratorContext, start: RunStart): void {
  const { state, clock, chance, logger, runner } = context;
  const { issue, workflow, attempt, retryKind } = start;
  const runId = chance.id();
  const watcher = watchRun(context, issue.id, runId);
  const record: RunRecordStart = {
    runId,
    project: context.project,
    issueId: issue.id,
    identifier: issue.identifier,
    generation: 1,
    role: 'worker',
    attempt,
    retryKind,
    backend: workflow.settings.agent.backend,
    host: context.host,
    startedAt: clock.now(),
  };
  logger.info('A run starts.', { issue_id: issue.id, issue_identifier: issue.identifier, run_id: runId, attempt });
  const entry: RunningEntry = {
    runId,
    issue,
    attempt,
    retryKind,
    failures: start.failures,
    run: startRecordedRun({
      request: { runId, issue, workflow, attempt, retryKind, watcher },
      record,
      runner,
      journal: context.journal,
      begin: () => beginWork(context, workflow, issue),
    }),
    startedAt: record.startedAt,
    startedAtMonotonic: clock.monotonic(),
    lastEventAtMonotonic: null,
    lastEvent: null,
    stage: 'preparing_workspace',
    turn: 0,
    workspace: null,
    threadId: null,
    process: null,
    stopRequested: null,
    holdAfterwards: null,
    ownMove: null,
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  };
  state.running.set(issue.id, entry);
  state.skipped.delete(issue.id);
  state.totals.runs += 1;
  void entry.run.outcome.then((outcome) => context.runEnded(entry, outcome));
  context.notify();
}

/** Moves the issue on where that is Baton's business: on the board from todo to in_progress. */
async function beginWork(context: OrchestratorContext, { settings }: Workflow, issue: Issue): Promise<Issue> {
  const { changes, startMove } = context.trackerFor(settings);
  if (changes === null || startMove === undefined) return issue;
  if (normalizeState(issue.state) !== normalizeState(startMove.from)) return issue;
  const moved = await changes.moveIssue(issue.id, startMove.to, { kind: 'orchestrator' }, context.stopping);
  const entry = context.state.running.get(issue.id);
  if (entry !== undefined) entry.issue = moved;
  return moved;
}

/** Writes what a run tells into its entry. A run that is not the issue's current one is not listened to. */
function watchRun(context: OrchestratorContext, issueId: string, runId: string): RunWatcher {
  const update = (change: Partial<RunningEntry>): void => {
    const entry = context.state.running.get(issueId);
    if (entry?.runId !== runId) return;
    Object.assign(entry, change);
    context.notify();
  };
  return {
    onStage: (stage) => update({ stage }),
    onWorkspace: (workspace) => {
      context.journal.note(runId, { workspace });
      update({ workspace });
    },
    onProcess: (process) => {
      context.journal.note(runId, { pid: process.pid, pidStartTime: process.startTime });
      update({ process });
    },
    onSession: (threadId) => {
      context.journal.note(runId, { threadId });
      update({ threadId });
    },
    onMove: (state) => update({ ownMove: { to: normalizeState(state), atMonotonic: context.clock.monotonic() } }),
    onTurn: (turn) => {
      context.journal.note(runId, { turns: turn });
      update({ turn });
    },
    onEvent: (event) => {
      context.journal.note(runId, event.usage ?? {}, event);
      const entry = context.state.running.get(issueId);
      if (entry?.runId === runId) update(eventChange(context, entry, event));
    },
  };
}

/** Usage is a running total of the session: the totals grow by what is new, and a lower figure changes nothing. */
function eventChange(
  { clock, state }: OrchestratorContext,
  entry: RunningEntry,
  event: AgentEvent,
): Partial<RunningEntry> {
  const seen = { lastEvent: event, lastEventAtMonotonic: clock.monotonic() };
  if (event.usage === undefined) return seen;
  const before = entry.usage;
  const usage = {
    inputTokens: Math.max(before.inputTokens, event.usage.inputTokens),
    outputTokens: Math.max(before.outputTokens, event.usage.outputTokens),
    totalTokens: Math.max(before.totalTokens, event.usage.totalTokens),
  };
  state.totals.inputTokens += usage.inputTokens - before.inputTokens;
  state.totals.outputTokens += usage.outputTokens - before.outputTokens;
  state.totals.totalTokens += usage.totalTokens - before.totalTokens;
  return { ...seen, usage };
}
