import type { AgentEvent } from '../../agent/agent.ts';
import type { Clock } from '../../clock/clock.ts';
import type { LoopDelay } from '../../clock/loop-delay.ts';
import type { Settings } from '../../core/settings.ts';
import type { Orchestrator } from '../../orchestrator/orchestrator.ts';
import type { Health } from '../../orchestrator/view/health.ts';
import type { ApiProject } from '../../server/api/api-project.ts';
import type { RunEvent } from '../../server/api/schema/run.ts';
import { timeText } from '../../server/api/time-text.ts';
import type { Store } from '../../store/store.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import type { TranscriptReader } from '../../store/transcripts/transcript-files.ts';
import type { IssueDesk } from '../../tracker/tracker.ts';
import type { LoadedWorkflow } from '../../workflow/load-workflow.ts';
import type { WorkflowFile } from '../../workflow/workflow-file.ts';
import type { Checkouts } from '../../workspace/git/checkout/checkout.ts';
import type { Salvage } from '../../workspace/salvage/salvage.ts';
import type { WorkspaceGround } from '../../workspace/workspace-ground.ts';
import type { Remote } from '../remote.ts';
import type { BoardWatch } from './board-watch.ts';
import { configurationReport } from './configuration-report.ts';
import { describeProject } from './describe-project.ts';
import { healthReport } from './health-report.ts';
import { requestReport } from './request-report.ts';
import type { RunEvents } from './run-events.ts';
import { salvageReport } from './salvage-report.ts';
import { submitFor } from './submit-for.ts';
import { createDeliveredDiff, createWorkspaceDiff, diffOfIssue } from './workspace-diff.ts';

export interface ApiProjectParts {
  readonly clock: Clock;
  readonly source: WorkflowFile;
  readonly orchestrator: Orchestrator;
  readonly store: Store;
  /** The project's id in the store. */
  readonly project: string;
  readonly transcripts: TranscriptReader;
  readonly runEvents: RunEvents;
  readonly boardWatch: BoardWatch;
  readonly remote: Remote;
  readonly ground: WorkspaceGround;
  readonly findCheckout: (settings: Settings) => Checkouts['find'];
  readonly salvageFor: (settings: Settings) => Salvage;
  /** Where people change issues through Baton; null where its tracker is another. */
  readonly desk: () => IssueDesk | null;
  readonly resumeLine: (settings: Settings, run: RunRecord) => Promise<string | null>;
  readonly lastTick: () => Health['tick'] | null;
  readonly delay: LoopDelay;
  readonly place: { readonly workflowPath: string; readonly stateDir: string };
  readonly version: string;
}

/** What the API knows of a daemon, and may ask of it. */
export function composeApiProject(parts: ApiProjectParts): ApiProject {
  const { clock, source, orchestrator, store, project, transcripts, remote, ground, version } = parts;
  const loaded = (): LoadedWorkflow => source.read().workflow;
  const { name } = loaded().settings.project;
  const diffOf = createWorkspaceDiff({
    ...{ git: ground.git, places: ground.places, clock },
    findCheckout: (workspace) => parts.findCheckout(loaded().settings)(workspace),
  });
  const deliveredDiff = createDeliveredDiff({
    ...{ git: ground.git, places: ground.places, clock },
    repo: () => loaded().settings.workspace.repo,
  });
  let askedAt = 0;
  return {
    name,
    id: project,
    tables: store,
    transcripts,
    describe: () => describeProject(loaded(), parts.desk(), version),
    movesFrom: (state) => parts.desk()?.movesFrom(state) ?? [],
    read: () => orchestrator.read(),
    watch: (watcher) => orchestrator.onChange(watcher),
    watchRuns: (watcher) => parts.runEvents.watch(watcher),
    lastSeqOf: (runId) => orchestrator.lastSeqOf(runId),
    watchIssues: (watcher) => parts.boardWatch.watch(watcher),
    explain: (issue) => orchestrator.explain(issue),
    poll: () => {
      const { polling, jobs } = orchestrator.read();
      const lastRunAt = jobs.find((job) => job.name === 'tracker_poll')?.lastRunAt ?? 0;
      // One that was asked for and has not begun does for both.
      const isCoalesced = polling.pollCheckInProgress || askedAt > lastRunAt;
      askedAt = clock.now();
      orchestrator.refresh();
      return { isCoalesced };
    },
    submit: (request, author) =>
      submitFor(
        {
          store,
          project,
          orchestrator,
          resumeLine: (run) => parts.resumeLine(loaded().settings, run),
        },
        request,
        author,
      ),
    resumeCommand: async (runId) => {
      const run = await store.runs.read(runId);
      return run === null ? null : parts.resumeLine(loaded().settings, run);
    },
    diff: (issueId) => diffOfIssue({ runs: store.runs, project }, issueId, diffOf, deliveredDiff),
    configuration: () => {
      const { workflow, problem } = source.read();
      return configurationReport(workflow, problem);
    },
    health: () =>
      healthReport({
        ...{ version, engine: store.engine, model: orchestrator.read(), tick: parts.lastTick(), delay: parts.delay },
        memoryBytes: process.memoryUsage.rss(),
      }),
    requests: (hours) =>
      requestReport(
        {
          ...{ requestCounts: store.requestCounts, views: remote.views(), now: clock.now() },
          budget: loaded().settings.polling.budget,
        },
        hours,
      ),
    salvage: () => salvageReport(parts.salvageFor(loaded().settings), parts.place),
  };
}

/** An event of a run as the API tells it; what is large is left to the transcript. */
export function runEventOf(seq: number, { at, name, summary, payload }: AgentEvent): RunEvent {
  return {
    ...{ seq, at: timeText(at) ?? '', event: name, message: summary },
    ...(isSmall(payload) ? { payload } : {}),
  };
}

const largestPayload = 16 * 1_024;

function isSmall(payload: unknown): boolean {
  if (payload === undefined) return false;
  try {
    return (JSON.stringify(payload) ?? '').length <= largestPayload;
  } catch {
    return false;
  }
}
