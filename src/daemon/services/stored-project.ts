import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import type { ReadModel } from '../../orchestrator/view/read-model.ts';
import { type ApiProject, createApiProjects } from '../../server/api/api-project.ts';
import { CostlyReads } from '../../server/api/costly-reads.ts';
import { localCaller } from '../../server/api/identify.ts';
import { mountRoutes } from '../../server/api/mount-routes.ts';
import { actionRoutes } from '../../server/api/routes/action-routes.ts';
import { readRoutes } from '../../server/api/routes/read-routes.ts';
import { transcriptFiles } from '../../store/transcripts/transcript-files.ts';
import { quietLogger } from '../quiet-logger.ts';
import type { Surroundings } from '../surroundings.ts';
import { trackerMaker } from '../trackers.ts';
import type { Workplace } from '../workplace.ts';
import { storedPart } from './stored-part.ts';

/**
 * The API on the store alone, while no daemon runs: reads return what the store knows, a command waits in the store,
 * and an explanation is what a daemon would find.
 */
export async function openStoredApi(
  { workflow, store, project, remote, stateDir }: Workplace,
  surroundings: Surroundings,
): Promise<(request: Request) => Promise<Response>> {
  const { clock, chance, version, userName } = surroundings;
  const { path: workflowPath, settings } = workflow;
  const storage = { store, project: project.id, clock, chance, onChange: () => {} };
  const tracker = trackerMaker({ clock, logger: quietLogger, remote, storage }, surroundings)(settings);
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
    carryOut: async () => null,
    editor: () => tracker.editor ?? null,
    surroundings,
  });
  const held = await store.held.list(project.id);
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
    slots: { used: 0, limit: settings.agent.maxConcurrentAgents },
    today: { tokens: 0, microUsd: 0, tokenLimit: 0, usdLimit: 0 },
    totals: { runs: 0, runMs: 0, runsByEnd: {}, inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    jobs: [],
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
    workflowProblem: null,
    noHeadroom: null,
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
    explain: async (issue) => {
      const { createDaemon } = await import('../daemon.ts');
      const options = { workflowPath, stateDir, trial: null, role: 'visitor', logger: quietLogger } as const;
      await using visitor = await createDaemon(options, surroundings);
      return await visitor.orchestrator.explain(await visitor.issueIdOf(issue), 'visitor');
    },
    poll: () => ({ isCoalesced: false }),
    storeChanged: () => {},
    diff: needsDaemon,
    health: needsDaemon,
    salvage: needsDaemon,
  };
  const projects = createApiProjects();
  projects.add(alone);
  const routes = [
    ...readRoutes({ projects, clock }),
    ...actionRoutes({ projects, stream: { issueChanged: () => {} } }),
  ];
  const identify = async (request: Request) => localCaller(request, userName);
  const app = mountRoutes(routes, { identify, logger: quietLogger, costly: new CostlyReads() });
  // The caller is in this process, so it gets the error itself.
  app.onError((error) => {
    throw error;
  });
  return async (request) => app.fetch(request);
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
