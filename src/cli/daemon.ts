import path from 'node:path';
import type { AgentProcess } from '../agent/agent.ts';
import { sleep } from '../clock/clock.ts';
import { systemChance } from '../clock/system-chance.ts';
import { systemClock } from '../clock/system-clock.ts';
import type { Logger } from '../core/logger.ts';
import type { ToolHost } from '../core/tool-door.ts';
import type { WorkflowSource } from '../core/workflow.ts';
import { createLimiterRegistry, type LimiterRegistry } from '../http/limiter-registry.ts';
import type { Trial } from '../orchestrator/context.ts';
import { Orchestrator } from '../orchestrator/orchestrator.ts';
import type { SlotPool } from '../orchestrator/slot-pool.ts';
import { childEnvironment, usualVariables } from '../process/child-environment.ts';
import { endRunsAtOnce } from '../process/end-runs-at-once.ts';
import { isAlive } from '../process/is-alive.ts';
import { type CustodyReport, probeCustody } from '../process/probe-custody.ts';
import { sweepDaemon } from '../process/sweep-daemon.ts';
import { sweepRun } from '../process/sweep-run.ts';
import { createRunner, type RunnerParts } from '../runner/run-issue.ts';
import { createAccessTokens } from '../server/access-tokens.ts';
import { openListener } from '../server/listener.ts';
import { LocalSocket } from '../server/local-socket.ts';
import { presentHealth } from '../server/present-health.ts';
import { presentStatus } from '../server/present-status.ts';
import { makeSocketFolder } from '../server/socket-path.ts';
import { createToolHost } from '../server/tool-host.ts';
import { openStore } from '../store/open-store.ts';
import { describeLocation, parseStoreUrl } from '../store/store-url.ts';
import { transcriptFiles } from '../store/transcript-files.ts';
import { HealthFile } from '../telemetry/health-file.ts';
import { openToolDoor } from '../tools/registry.ts';
import type { Board } from '../tracker/board/board.ts';
import { WorkflowFile } from '../workflow/workflow-file.ts';
import { clearEarlierLife } from '../workspace/workspace-ground.ts';
import { lastTouch } from './activity-file.ts';
import { createAgent, workflowContext } from './adapters.ts';
import { composeWorkspaces } from './compose-workspaces.ts';
import { type StateFolder, takeStateFolder } from './daemon-identity.ts';
import { presentRequests } from './present-requests.ts';
import { Remote } from './remote.ts';
import { roomLeft } from './room-left.ts';
import type { Surroundings } from './surroundings.ts';
import { openBoard, type TrackerParts, trackerMaker } from './trackers.ts';
import { workableSource } from './workable-source.ts';
import { statePlace } from './workplace.ts';

/** How soon the next sweep follows when everything is to end at once. */
const sweepAgainMs = 20;
const betweenTurns = { job: 'run', cause: 'turn' } as const;

export interface DaemonOptions {
  readonly workflowPath: string;
  /** As given on the command line. */
  readonly stateDir: string | undefined;
  readonly trial: Trial | null;
  /** A visitor looks at the store beside a daemon that may run, starts nothing and listens to nobody. */
  readonly role: 'daemon' | 'visitor';
  /** Shared with other projects of this Baton; absent where it is alone. */
  readonly pool?: SlotPool;
  /** Shared with other projects of this Baton that may use the same credential; absent where it is alone. */
  readonly limiters?: LimiterRegistry;
  /** A say of the other projects about each reading of the workflow file; throws when the first is refused. */
  readonly guard?: (source: WorkflowSource) => WorkflowSource;
  readonly logger: Logger;
}

/** All rooms put together for one workflow file. */
export interface Daemon extends AsyncDisposable {
  readonly orchestrator: Orchestrator;
  readonly custody: CustodyReport;
  /** The board of the workflow as it is now; rejects where its tracker is another. */
  board(): Board;
  /** Ends every agent without asking it first, and every hook that follows it, until the orchestrator is closed. */
  endAtOnce(): Promise<void>;
}

/** Reads the workflow file, opens the store and composes the daemon; nothing runs before `orchestrator.start()`. */
export async function createDaemon(options: DaemonOptions, surroundings: Surroundings): Promise<Daemon> {
  const { workflowPath, logger } = options;
  const clock = systemClock;
  // What is opened is closed in the opposite order, also when something after it cannot be opened.
  await using opened = new AsyncDisposableStack();
  const source = opened.use(
    await WorkflowFile.start({ path: workflowPath, context: workflowContext(surroundings), clock, logger }),
  );
  const possible = workableSource(source, logger);
  const workable = options.guard?.(possible) ?? possible;
  const { settings } = workable.read().workflow;
  const place = statePlace(workflowPath, settings, options.stateDir, surroundings);
  const { ownerId, markerId, isHeld } = takeIdentity(opened, place.stateDir, options, surroundings);
  const store = opened.use(await openStore({ url: place.storeUrl, clock, logger, mode: options.role }));
  const project = (await store.projects.ensure(settings.project.name, clock.now())).id;
  const remote = opened.use(
    new Remote({
      ...{ clock, logger, store, surroundings, project },
      storeKey: describeLocation(parseStoreUrl(place.storeUrl)),
      limiters: options.limiters ?? createLimiterRegistry(clock),
      budget: () => workable.read().workflow.settings.polling.budget,
    }),
  );
  const trackerParts: TrackerParts = {
    clock,
    chance: systemChance,
    store,
    project,
    remote,
    logger,
    onBoardChange: () => orchestrator.refresh(),
  };
  const trackerFor = trackerMaker(trackerParts);
  // Made now, so that a bad issues file is told at the start.
  trackerFor(settings);
  // What earlier lives, and other daemons on the store, have asked for counts before the first request.
  await remote.refresh();
  const custody = await probe(surroundings, markerId);
  const process = { clock, custody: custody.custody, daemonId: markerId, daemonEnv: surroundings.env };
  const { stateDir } = place;
  const { ground, workspacesFor, pruneSalvage } = composeWorkspaces({ ...process, workflowPath, stateDir, logger });
  const health = new HealthFile({
    path: path.join(place.stateDir, 'health.json'),
    onError: (error) => logger.warn('The health file could not be written.', { error }),
  });
  const runnerParts: RunnerParts = {
    clock,
    chance: systemChance,
    logger,
    agentFor: (wanted, account) => createAgent(wanted, account, process, surroundings),
    workspacesFor,
    toolDoorFor: (wanted, run) =>
      openToolDoor({
        ...{ ...run, clock, chance: systemChance, tracker: trackerFor(wanted) },
        trustedAuthors: wanted.tracker.trustedAuthors,
      }),
    toolHost: options.role === 'daemon' ? await openTools(opened, logger) : null,
    readIssue: async (wanted, id, signal) =>
      (await trackerFor(wanted).fetchByIds([id], { signal, caller: betweenTurns }))[0] ?? null,
  };
  const orchestrator: Orchestrator = opened.use(
    new Orchestrator({
      clock,
      chance: systemChance,
      logger,
      source: workable,
      trackerFor,
      runner: createRunner(runnerParts),
      workspacesFor,
      store,
      isShared: store.engine === 'postgres',
      project,
      owner: ownerId,
      host: surroundings.hostName,
      transcripts: transcriptFiles(path.join(place.stateDir, 'transcripts')),
      processes: {
        endEarlierLives: async () => {
          const ended = await sweepDaemon(markerId, { clock });
          // Now that nobody writes there any more.
          await clearEarlierLife(ground, logger);
          return ended;
        },
        endRun: (runId, began) => sweepRun(runId, { clock }, leaderOf(began)),
        endAtOnce: async (runIds) => void (await endRunsAtOnce(runIds, { clock })),
        isAlive,
      },
      pruneSalvage,
      refreshRequests: () => remote.refresh(),
      touchedAt: lastTouch(workflowPath),
      roomLeft: (wanted) => roomLeft(wanted, place.stateDir),
      pool: options.pool?.join({ wake: () => orchestrator.fillSlots() }) ?? null,
      trial: options.trial,
      onHealth: (record) => {
        if (options.role !== 'daemon') return;
        health.put(presentHealth(record));
        if (isHeld()) return;
        logger.error('The state folder was taken away; another daemon may have its place. Baton stops.');
        void orchestrator.stop();
      },
    }),
  );
  opened.defer(() => health.flush());
  opened.defer(source.onChange(() => orchestrator.refresh()));
  if (options.role === 'daemon') {
    makeSocketFolder(place.stateDir, surroundings.tmpDir);
    const answers = {
      wake: () => orchestrator.wake(),
      reload: () => orchestrator.reload(),
      status: () => ({ ...presentStatus(orchestrator.read()), requests: remote.views().map(presentRequests) }),
      explain: (issue: string) => orchestrator.explain(issue),
    };
    opened.use(await LocalSocket.open({ path: place.socket, answers, clock, logger }));
  }
  const kept = opened.move();
  return {
    orchestrator,
    custody,
    board: () => openBoard(workable.read().workflow.settings.tracker, trackerParts),
    endAtOnce: () => endAtOnce(orchestrator),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Where agents reach their tools over HTTP: on this machine only, each with the token of its run. */
async function openTools(opened: AsyncDisposableStack, logger: Logger): Promise<ToolHost> {
  const parts = { clock: systemClock, chance: systemChance };
  const listener = opened.use(await openListener({ host: '127.0.0.1', port: 0, logger, ...parts }));
  return createToolHost({ listener, tokens: createAccessTokens(), ...parts });
}

async function endAtOnce(orchestrator: Orchestrator): Promise<void> {
  let isClosed = false;
  void orchestrator.closed.then(() => {
    isClosed = true;
  });
  while (!isClosed) {
    const { running } = orchestrator.read();
    await endRunsAtOnce(
      running.map(({ runId }) => runId),
      { clock: systemClock },
    );
    await sleep(systemClock, sweepAgainMs);
  }
}

/** How this machine lets Baton hold on to what it starts. */
export function probe(surroundings: Surroundings, daemonId: string): Promise<CustodyReport> {
  const env = childEnvironment({ from: surroundings.env, allow: usualVariables, deny: [] });
  return probeCustody({ env, clock: systemClock, chance: systemChance, daemonId });
}

/** The session of the process that a run began with; null where its start time is not known. */
function leaderOf(began: AgentProcess | null): { leader?: { pid: number; startTime: number } } {
  return began?.startTime == null ? {} : { leader: { pid: began.pid, startTime: began.startTime } };
}

/** A daemon has its state folder to itself, and is known by it; a visitor is nobody. */
function takeIdentity(
  opened: AsyncDisposableStack,
  stateDir: string,
  { role, logger }: DaemonOptions,
  { hostName }: Surroundings,
): Pick<StateFolder, 'ownerId' | 'markerId' | 'isHeld'> {
  if (role === 'visitor') return { ownerId: 'visitor', markerId: systemChance.id(), isHeld: () => true };
  const folder = takeStateFolder(stateDir, { hostName, chance: systemChance, logger });
  opened.defer(() => folder.release());
  return folder;
}
