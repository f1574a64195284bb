import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BatonError, toBatonError } from '../../core/baton-error.ts';
import { isCommandKind } from '../../core/command/command.ts';
import { type CommandAnswer, done, refused } from '../../core/command/command-answers.ts';
import { slotView } from '../../core/dispatch/slots.ts';
import { hasPipeline, phaseNames } from '../../core/pipeline/phase.ts';
import { agentNames } from '../../core/run/choose-agent.ts';
import { taskAgents } from '../../core/task/task-agents.ts';
import { changeIssue, isIssueEditKind } from '../../orchestrator/commands/change-issue.ts';
import { pruned } from '../../orchestrator/commands/execute-command.ts';
import { type PinParts, pinWorkspace } from '../../orchestrator/commands/pin-workspace.ts';
import type { Orchestrator } from '../../orchestrator/orchestrator.ts';
import type { ReadModel } from '../../orchestrator/view/read-model.ts';
import { type ApiProject, createApiProjects } from '../../server/api/api-project.ts';
import { CostlyReads } from '../../server/api/costly-reads.ts';
import { localCaller } from '../../server/api/identify.ts';
import { mountRoutes } from '../../server/api/mount-routes.ts';
import { openIn } from '../../server/api/present/present-pipeline.ts';
import { actionRoutes } from '../../server/api/routes/action-routes.ts';
import { readRoutes } from '../../server/api/routes/read-routes.ts';
import type { Command, CommandResult } from '../../store/tables/commands.ts';
import type { StoredCompletion } from '../../store/tables/pipeline/completion-claims.ts';
import { transcriptFiles } from '../../store/transcripts/transcript-files.ts';
import type { Daemon } from '../daemon.ts';
import { quietLogger } from '../quiet-logger.ts';
import type { Surroundings } from '../surroundings.ts';
import { openBoard, taskReads, trackerMaker } from '../trackers.ts';
import type { Workplace } from '../workplace.ts';
import { pruneReport } from './prune-report.ts';
import { storedPart } from './stored-part.ts';

/**
 * The API on the store alone, while no daemon runs: reads return what the store knows, and an explanation is what a
 * daemon would find. A command that needs only the store and the tracker is carried out here, any other waits.
 */
export async function openStoredApi(
  { workflow, store, project, remote, stateDir }: Workplace,
  surroundings: Surroundings,
): Promise<(request: Request) => Promise<Response>> {
  const { clock, chance, version, userName } = surroundings;
  const { path: workflowPath, settings } = workflow;
  const storage = { store, project: project.id, clock, chance, onChange: () => {} };
  const tracker = trackerMaker(
    { clock, logger: quietLogger, remote, storage },
    taskReads(store, project.id),
    surroundings,
  )(settings);
  // Only an orchestrator removes workspaces; as a daemon it locks the state folder meanwhile.
  const withDaemon = async <T>(role: 'daemon' | 'visitor', act: (daemon: Daemon) => Promise<T>): Promise<T> => {
    const { createDaemon } = await import('../daemon.ts');
    const options = { workflowPath, stateDir, trial: null, role, logger: quietLogger } as const;
    await using daemon = await createDaemon(options, surroundings);
    return await act(daemon);
  };
  const carryOut = async (command: Command): Promise<CommandResult | null> => {
    const source = { read: () => ({ workflow, problem: null }) };
    const parts = { store, project: project.id, clock, source, trackerFor: () => tracker };
    const finish = async (answer: CommandAnswer): Promise<CommandResult> => {
      const result = { at: clock.now(), ...answer };
      await store.commands.finish(command.id, result);
      return result;
    };
    try {
      const answer = await carryOutAlone(parts, command, (prune) =>
        withDaemon('daemon', (alone) => prune(alone.orchestrator)),
      );
      return answer === null ? null : await finish(answer);
    } catch (thrown) {
      // The caller gets the error, so no daemon may carry out the command later.
      const error = toBatonError(thrown);
      await finish(refused(error.code, error.message, error.details));
      throw error;
    }
  };
  const stored = storedPart({
    workflow: () => ({ workflow, problem: null }),
    store,
    project: project.id,
    transcripts: transcriptFiles(path.join(stateDir, 'transcripts')),
    remote,
    stateDir,
    version,
    clock,
    chance,
    carryOut,
    answerMs: longestPruneMs,
    tracker: () => tracker,
    board: () => openBoard(settings.tracker, storage, surroundings),
    surroundings,
  });
  const held = await store.held.list(project.id);
  const ofHeld = held.map(({ issueId }) => issueId);
  const published = await store.runs.latestPublications(project.id, ofHeld);
  const model: ReadModel = {
    at: clock.now(),
    startedAt: 0,
    polling: {
      mode: 'fixed',
      intervalMs: settings.polling.intervalMs,
      lastActivityAt: 0,
      quietUntil: null,
      failures: 0,
      pressure: { step: 'free', spacingMs: 0, until: null, text: '' },
      nextPollDueAt: null,
      pollCheckInProgress: false,
      ticks: 0,
    },
    held: held.map(({ issueId: id, identifier, code, reason, since, runId }) => ({
      issue: { id, identifier },
      code,
      reason,
      since,
      runId,
    })),
    slots: slotView([], settings),
    today: { tokens: 0, microUsd: 0, tokenLimit: 0, usdLimit: 0, roles: [] },
    totals: { runs: 0, runMs: 0, runsByEnd: {}, inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    jobs: [],
    stepTimes: new Map(),
    findings: [],
    running: [],
    retrying: [],
    waitingQuota: [],
    questions: [],
    accounts: [],
    paused: null,
    skipped: [],
    completed: [],
    candidates: [],
    isPolled: false,
    reviews: [],
    agents: agentNames(settings),
    taskAgents: taskAgents(settings),
    governing: new Map(
      [...published].flatMap(([id, { governing }]) => (governing === undefined ? [] : [[id, governing]])),
    ),
    pulls: new Map(),
    phaseNames: hasPipeline(settings.pipeline) ? phaseNames(settings.pipeline) : [],
    phases: await standingsOf(store, project.id, ofHeld),
    workflowProblem: null,
    workflowWaiting: null,
    proposals: await store.tasks.list(project.id, { statuses: ['proposed'], limit: 50 }),
    noHeadroom: null,
    environment: null,
    errors: [],
  };
  const alone: ApiProject = {
    ...stored,
    owner: readOwner(stateDir),
    dashboardUrl: null,
    read: () => model,
    watch: () => () => {},
    watchRuns: () => () => {},
    watchIssues: () => () => {},
    lastSeqOf: () => null,
    explain: (issue) =>
      withDaemon('visitor', async ({ orchestrator, issueIdOf }) =>
        orchestrator.explain(await issueIdOf(issue), 'visitor'),
      ),
    prunable: () =>
      withDaemon('visitor', async ({ orchestrator }) =>
        pruneReport(await orchestrator.pruneAll({ dryRun: true }, 'visitor'), settings),
      ),
    poll: () => ({ isCoalesced: false }),
    storeChanged: () => {},
    diff: needsDaemon,
    pulls: { review: () => settings.review, facts: async () => null, diff: needsDaemon },
    health: needsDaemon,
    salvage: needsDaemon,
  };
  const projects = createApiProjects();
  projects.add(alone);
  const routes = [
    ...readRoutes({ projects, clock }),
    ...actionRoutes({ projects, stream: { issueChanged: () => {} } }),
  ];
  // The command line has found out whether it is inside a run.
  const identify = async (request: Request) => ({
    ...localCaller(request, { kind: 'user' }, userName),
    hasStore: true as const,
  });
  const app = mountRoutes(routes, { projects, identify, logger: quietLogger, costly: new CostlyReads() });
  // The caller is in this process, so it gets the error itself.
  app.onError((error) => {
    throw error;
  });
  return async (request) => app.fetch(request, { isLocal: true });
}

/** Where issues stand in the pipeline. */
async function standingsOf(
  { phases, completionClaims }: Pick<Workplace['store'], 'completionClaims' | 'phases'>,
  project: string,
  issueIds: readonly string[],
): Promise<ReadModel['phases']> {
  const records = await phases.readAll(project, issueIds);
  const open = records.size === 0 ? new Map<string, StoredCompletion>() : await completionClaims.allOpen(project);
  return new Map(
    [...records].map(([id, record]) => {
      const claim = open.get(id);
      return [id, { record, open: openIn(claim === undefined ? [] : [claim]) }];
    }),
  );
}

/** Work is saved before a removal, which takes long for a large workspace. */
const longestPruneMs = 600_000;

/** Carries out a command without an orchestrator; null when it needs one. */
async function carryOutAlone(
  parts: PinParts,
  command: Command,
  alone: <T>(act: (orchestrator: Orchestrator) => Promise<T>) => Promise<T>,
): Promise<CommandAnswer | null> {
  const { kind, payload } = command;
  if (!isCommandKind(kind)) return null;
  if (isIssueEditKind(kind)) return changeIssue(parts, command, kind);
  if (kind === 'workspace_pin' || kind === 'workspace_unpin') return pinWorkspace(parts, command, kind);
  if (kind === 'prune') return pruned(await alone((orchestrator) => orchestrator.pruneAll({ dryRun: false })));
  if (kind !== 'workspaces_prune') return null;
  // The schema of the request has checked them.
  const issueIds = payload.issues as readonly string[];
  const wish = { issueIds, ignoresRetention: payload.ignores_retention === true };
  await alone((orchestrator) => orchestrator.prune(wish));
  return done('workspaces_being_removed', 'The workspaces are removed.', { workspaces: issueIds.length });
}

function needsDaemon(): never {
  throw new BatonError('daemon_unreachable', 'Only a running daemon can answer this, and none is running.');
}

/**
 * The id under which the daemon of a state folder stores its jobs, read without locking the folder (see
 * daemon-identity.ts); null when no daemon ever ran. Reading it gives the reader no claims.
 */
function readOwner(stateDir: string): string | null {
  try {
    const [id] = readFileSync(path.join(stateDir, 'daemon-id'), 'utf8').split('\n', 1);
    return id === undefined || id === '' ? null : id;
  } catch {
    return null;
  }
}
