import type { Chance } from '../../clock/chance.ts';
import type { Clock } from '../../clock/clock.ts';
import type { LoopDelay } from '../../clock/loop-delay.ts';
import type { Settings } from '../../core/settings.ts';
import type { Orchestrator } from '../../orchestrator/orchestrator.ts';
import type { Health } from '../../orchestrator/view/health.ts';
import type { PullRequests } from '../../pulls/pull-requests.ts';
import type { ApiProject } from '../../server/api/api-project.ts';
import type { Store } from '../../store/store.ts';
import type { TranscriptReader } from '../../store/transcripts/transcript-files.ts';
import type { Board } from '../../tracker/board/board.ts';
import type { Tracker } from '../../tracker/tracker.ts';
import type { WorkflowFile } from '../../workflow/workflow-file.ts';
import type { Checkouts } from '../../workspace/git/checkout/checkout.ts';
import { homeOf } from '../../workspace/git/source/home-repository.ts';
import type { Salvage } from '../../workspace/salvage/salvage.ts';
import type { WorkspaceResources } from '../../workspace/workspace-resources.ts';
import type { Remote } from '../remote.ts';
import type { Surroundings } from '../surroundings.ts';
import type { BoardWatch } from './board-watch.ts';
import { createPublishedDiff, createPullDiff, createWorkspaceDiff, diffOfIssue } from './diff/workspace-diff.ts';
import { healthReport } from './health-report.ts';
import { pruneReport } from './prune-report.ts';
import type { RunEvents } from './run-events.ts';
import { salvageReport } from './salvage-report.ts';
import { storedPart } from './stored-part.ts';

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
  readonly resources: WorkspaceResources;
  readonly findCheckout: (settings: Settings) => Checkouts['find'];
  readonly salvageFor: (settings: Settings) => Salvage;
  readonly pullsFor: (settings: Settings) => PullRequests | null;
  readonly tracker: () => Tracker;
  /** Baton's own board; throws `tracker_not_board` for another tracker. */
  readonly board: () => Board;
  readonly surroundings: Pick<Surroundings, 'adapters' | 'hostName'>;
  readonly lastTick: () => Health['tick'] | null;
  readonly delay: LoopDelay;
  readonly place: { readonly workflowPath: string; readonly stateDir: string };
  readonly version: string;
  readonly chance: Chance;
  /** The id of this daemon in the store. */
  readonly owner: string;
  readonly dashboardUrl: string | null;
  /** The id of the issue that a person names; the name itself when only the tracker knows. */
  issueIdOf(name: string): Promise<string>;
}

/** The API's view of a daemon. */
export function composeApiProject(parts: ApiProjectParts): ApiProject {
  const { clock, source, orchestrator, store, project, resources, version, place } = parts;
  const settings = (): Settings => source.read().workflow.settings;
  const diffOf = createWorkspaceDiff({
    git: resources.git,
    places: resources.places,
    clock,
    findCheckout: (workspace) => parts.findCheckout(settings())(workspace),
  });
  const published = {
    git: resources.git,
    places: resources.places,
    clock,
    repo: () => homeOf(settings(), resources.places),
  };
  const publishedDiff = createPublishedDiff(published);
  let askedAt = 0;
  return {
    ...storedPart({
      ...parts,
      workflow: () => source.read(),
      stateDir: place.stateDir,
      carryOut: (command) => orchestrator.carryOut(command),
    }),
    owner: parts.owner,
    dashboardUrl: parts.dashboardUrl,
    read: () => orchestrator.read(),
    watch: (watcher) => orchestrator.onChange(watcher),
    watchRuns: (watcher) => parts.runEvents.watch(watcher),
    lastSeqOf: (runId) => orchestrator.lastSeqOf(runId),
    watchIssues: (watcher) => parts.boardWatch.watch(watcher),
    explain: async (issue) => orchestrator.explain(await parts.issueIdOf(issue)),
    poll: () => {
      const { polling, jobs } = orchestrator.read();
      const lastRunAt = jobs.find((job) => job.name === 'tracker_poll')?.lastRunAt ?? 0;
      // A poll that was requested and has not begun serves both requests.
      const isCoalesced = polling.pollCheckInProgress || askedAt > lastRunAt;
      askedAt = clock.now();
      orchestrator.refresh();
      return { isCoalesced };
    },
    storeChanged: (change) => {
      if (change === 'restored') orchestrator.reload();
      else orchestrator.wake();
      parts.boardWatch.check();
    },
    diff: (issueId) => diffOfIssue({ runs: store.runs, project }, issueId, diffOf, publishedDiff),
    pulls: {
      review: () => settings().review,
      facts: async (pull, signal) => {
        const host = parts.pullsFor(settings());
        // A page is opened often; the poll keeps this fresh.
        const known = host?.remote?.lastRead(pull) ?? null;
        if (known !== null || host === null) return known;
        const read = host.read([pull], signal);
        // The page has much more to show than what a remote host says.
        const [facts = null] = await (host.remote === undefined ? read : read.catch(() => []));
        return facts;
      },
      diff: createPullDiff(published),
    },
    health: () =>
      healthReport({
        version,
        engine: store.engine,
        model: orchestrator.read(),
        tick: parts.lastTick(),
        delay: parts.delay,
        memoryBytes: process.memoryUsage.rss(),
      }),
    prunable: async () => pruneReport(await orchestrator.pruneAll({ dryRun: true }), settings()),
    salvage: () => salvageReport(parts.salvageFor(settings()), place),
  };
}
