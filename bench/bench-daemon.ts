import os from 'node:os';
import path from 'node:path';
import { Hono } from 'hono';
import type { Agent } from '../src/agent/agent.ts';
import { systemChance } from '../src/clock/system-chance.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import { createAgent, workflowContext } from '../src/daemon/adapters.ts';
import { withoutIsolation } from '../src/daemon/compose-isolation.ts';
import { composeWorkspaces } from '../src/daemon/compose-workspaces.ts';
import { workableSource } from '../src/daemon/guarded-source.ts';
import { readHeadroom } from '../src/daemon/machine-facts.ts';
import { probeMachine } from '../src/daemon/run-containment.ts';
import type { Surroundings } from '../src/daemon/surroundings.ts';
import { Orchestrator } from '../src/orchestrator/orchestrator.ts';
import { isAlive } from '../src/process/containment/is-alive.ts';
import { endRunsAtOnce, sweepDaemon, sweepRun } from '../src/process/containment/sweep.ts';
import type { ProcessDeps } from '../src/process/start-child.ts';
import { createRunner } from '../src/runner/run-issue.ts';
import type { Runner } from '../src/runner/runner.ts';
import { presentStatus } from '../src/server/api/present/present-status.ts';
import { openLocalSocket } from '../src/server/local-socket.ts';
import { presentHealth } from '../src/server/present-health.ts';
import { openStore } from '../src/store/open-store.ts';
import { transcriptFiles } from '../src/store/transcripts/transcript-files.ts';
import { createLogger } from '../src/telemetry/create-logger.ts';
import { HealthFile } from '../src/telemetry/health-file.ts';
import { openToolSet } from '../src/tools/registry.ts';
import type { Tracker } from '../src/tracker/tracker.ts';
import { WorkflowFile } from '../src/workflow/workflow-file.ts';

export interface BenchDaemonOptions {
  /** All files of this daemon are in this folder. */
  readonly folder: string;
  readonly workflowPath: string;
  readonly process: ProcessDeps;
  readonly tracker: Tracker;
  /** Lets the bench read the facts that agents and runs report. */
  readonly watchAgent?: (agent: Agent) => Agent;
  readonly watchRunner?: (runner: Runner) => Runner;
}

export interface BenchDaemon extends AsyncDisposable {
  readonly orchestrator: Orchestrator;
  /** The socket on which it answers status requests. */
  readonly socket: string;
}

/** The containment that a daemon finds on this machine. */
export async function processDeps(): Promise<ProcessDeps> {
  const daemonId = systemChance.id();
  const { containment } = await probeMachine(surroundings, daemonId);
  return { clock: systemClock, containment, daemonId };
}

/** The daemon of `src/daemon/daemon.ts`, part by part, with a tracker and an agent that a bench can observe. */
export async function openBenchDaemon(options: BenchDaemonOptions): Promise<BenchDaemon> {
  const { folder, workflowPath, tracker } = options;
  const process = { ...options.process, daemonEnv: surroundings.env };
  const { clock } = process;
  await using opened = new AsyncDisposableStack();
  const { logger, close } = createLogger({ clock, file: { logsRoot: folder }, terminal: null });
  opened.defer(close);
  const source = opened.use(
    await WorkflowFile.start({ path: workflowPath, context: workflowContext(surroundings, folder), clock, logger }),
  );
  const workable = workableSource(source, logger);
  const store = opened.use(
    await openStore({ url: `sqlite:${path.join(folder, 'baton.db')}`, clock, logger, mode: 'daemon' }),
  );
  const { settings } = workable.read().workflow;
  const project = (await store.projects.ensure(settings.project.name, clock.now())).id;
  const { workspacesFor, files } = composeWorkspaces({
    ...process,
    ...withoutIsolation,
    workflowPath,
    stateDir: folder,
    logger,
  });
  const health = new HealthFile({ path: path.join(folder, 'health.json'), onError: () => {} });
  const watchAgent = options.watchAgent ?? ((agent: Agent) => agent);
  const watchRunner = options.watchRunner ?? ((runner: Runner) => runner);
  const orchestrator: Orchestrator = opened.use(
    new Orchestrator({
      clock,
      chance: systemChance,
      logger,
      source: workable,
      trackerFor: () => tracker,
      runner: watchRunner(
        createRunner({
          clock,
          chance: systemChance,
          logger,
          toolHost: null,
          agentFor: (wanted, account) => watchAgent(createAgent(wanted, account, process, () => null, surroundings)),
          workspacesFor,
          toolSetFor: (_, run) => openToolSet({ ...run, clock, tracker }),
        }),
      ),
      workspacesFor,
      files,
      pullsFor: () => null,
      runChecks: async () => {},
      refreshRequests: async () => {},
      touchedAt: () => null,
      store,
      isShared: false,
      project,
      owner: process.daemonId,
      host: surroundings.hostName,
      transcripts: transcriptFiles(path.join(folder, 'transcripts')),
      processes: {
        endLeftovers: () => sweepDaemon(process.daemonId, { clock }),
        endRun: (runId) => sweepRun(runId, { clock }),
        endAtOnce: async (runIds) => void (await endRunsAtOnce(runIds, { clock })),
        isAlive,
      },
      readHeadroom: (wanted) => readHeadroom(wanted, folder),
      pool: null,
      trial: null,
      onHealth: (record) => health.put(presentHealth(record)),
    }),
  );
  opened.defer(() => health.flush());
  const socket = path.join(folder, 'baton.sock');
  const served = opened.use(await openLocalSocket({ path: socket, clock, chance: systemChance, logger }));
  const status = (): Response => Response.json(presentStatus(orchestrator.read(), { api: null, waitingCommands: 0 }));
  served.mount('/', new Hono().get('/status', status));
  const kept = opened.move();
  return { orchestrator, socket, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

const surroundings: Surroundings = {
  clock: systemClock,
  chance: systemChance,
  env: process.env,
  cwd: process.cwd(),
  homeDir: os.homedir(),
  tmpDir: os.tmpdir(),
  uid: process.getuid?.() ?? null,
  hostName: os.hostname(),
  userName: 'bench',
  timeZone: 'UTC',
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  batonPath: 'baton',
  nodePath: process.execPath,
  nodeVersion: process.versions.node,
  platform: process.platform,
  version: '0.0.0',
  agentProgram: (backend) => new URL(`../src/agent/${backend}/program.ts`, import.meta.url),
  dashboardFolder: new URL('../dist/dashboard/', import.meta.url),
  closeInherited: () => {},
  interrupt: () => {},
  onSignal: () => () => {},
};
