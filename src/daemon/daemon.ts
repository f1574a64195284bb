import path from 'node:path';
import type { Logger } from '../core/logger.ts';
import { boundsOfBill } from '../core/run/limits.ts';
import { roleCosts } from '../core/run/role-costs.ts';
import type { Settings } from '../core/settings.ts';
import type { WorkflowSource } from '../core/workflow.ts';
import { createLimiterRegistry, type LimiterRegistry } from '../http/limiter-registry.ts';
import type { SlotPool } from '../orchestrator/dispatch/slot-pool.ts';
import { Orchestrator } from '../orchestrator/orchestrator.ts';
import type { Trial } from '../orchestrator/parts.ts';
import type { Health } from '../orchestrator/view/health.ts';
import { sweepDaemon } from '../process/containment/sweep.ts';
import { presentHealth } from '../server/present-health.ts';
import { openStore } from '../store/open-store.ts';
import { describeLocation, parseStoreUrl } from '../store/store-url.ts';
import { transcriptFiles } from '../store/transcripts/transcript-files.ts';
import { HealthFile } from '../telemetry/health-file.ts';
import { schemaProblem } from '../tools/phase-tools.ts';
import type { Board } from '../tracker/board/board.ts';
import type { BoardStorage } from '../tracker/board/board-parts.ts';
import { WorkflowFile } from '../workflow/workflow-file.ts';
import { refuseSharedRoot } from '../workspace/another-daemon.ts';
import { createCheckouts } from '../workspace/git/checkout/checkouts.ts';
import { findBackend, findTracker, workflowContext } from './adapters.ts';
import { openIsolation, whenOpened, withoutIsolation } from './compose-isolation.ts';
import { composeRunner, openTools } from './compose-runner.ts';
import { composeWorkspaces, salvageFor, warnOfRepository } from './compose-workspaces.ts';
import { connectDaemon } from './daemon-connections.ts';
import { type StateFolder, takeStateFolder } from './daemon-identity.ts';
import { workableSource } from './guarded-source.ts';
import { lastTouch, readHeadroom } from './machine-facts.ts';
import { isIsolatedFromWorkflow, takeOwnEdits } from './own-edits.ts';
import { checksMaker, judgeCheckoutMaker, proverMaker, pullsMaker } from './pull-hosts.ts';
import { Remote } from './remote.ts';
import { endAllAtOnce, probeMachine, processesOf } from './run-containment.ts';
import { createBoardWatch } from './services/board-watch.ts';
import type { OpenedApi } from './services/open-api.ts';
import { createRunEvents } from './services/run-events.ts';
import type { Surroundings } from './surroundings.ts';
import { createTextTrust } from './text-trust.ts';
import { openBoard, taskReads, trackerMaker } from './trackers.ts';
import { statePlace } from './workplace.ts';

export interface DaemonOptions {
  readonly workflowPath: string;
  /** As given on the command line. */
  readonly stateDir: string | undefined;
  readonly trial: Trial | null;
  /** A visitor reads the store while a daemon may be running; it starts nothing and opens no listener. */
  readonly role: 'daemon' | 'visitor';
  /** Shared with the other projects of this Baton; absent when there is only one. */
  readonly pool?: SlotPool;
  /** Shared with other projects of this Baton that may use the same credential; absent when there is only one. */
  readonly limiters?: LimiterRegistry;
  /** Refuses a workflow file that clashes with another project; throws when its first reading clashes. */
  readonly guard?: (source: WorkflowSource) => WorkflowSource;
  readonly logger: Logger;
  /** The API of this Baton; absent when nothing serves it. */
  readonly api?: OpenedApi;
}

/** All modules composed for one workflow file. */
export interface Daemon extends AsyncDisposable {
  readonly orchestrator: Orchestrator;
  /** The board of the current workflow; rejects when its tracker is not the board. */
  board(): Board;
  /** The id of the issue that a person names, on Baton's own board; for another tracker the name itself. */
  issueIdOf(name: string): Promise<string>;
  /** Kills every agent, and every hook that follows it, until the orchestrator is closed. */
  endAtOnce(): Promise<void>;
}

/** Reads the workflow file, opens the store and composes the daemon; nothing runs before `orchestrator.start()`. */
export async function createDaemon(options: DaemonOptions, surroundings: Surroundings): Promise<Daemon> {
  const { workflowPath, logger } = options;
  const isDaemon = options.role === 'daemon';
  const { clock, chance } = surroundings;
  // Everything opened is closed in reverse order, also when a later part fails to open.
  await using opened = new AsyncDisposableStack();
  const source = opened.use(
    await WorkflowFile.start({
      path: workflowPath,
      context: workflowContext(surroundings, options.stateDir),
      clock,
      logger,
    }),
  );
  const possible = workableSource(source, logger);
  const workable = options.guard?.(possible) ?? possible;
  const settingsNow = (): Settings => workable.read().workflow.settings;
  const settings = settingsNow();
  const place = statePlace(workflowPath, settings, options.stateDir, surroundings);
  const { stateDir } = place;
  const { ownerId, markerId, isStillOurs } = takeIdentity(opened, stateDir, options, surroundings);
  // First of all, because the programs that examine the machine have the same marker. They run while the store opens and
  // the tracker is read; every other program waits for them.
  const swept = isDaemon ? sweepDaemon(markerId, { clock }) : Promise.resolve({ ended: 0, left: [] });
  const containment = swept.then(async () => (await probeMachine(surroundings, markerId)).containment);
  const process = { clock, containment, daemonId: markerId, daemonEnv: surroundings.env };
  const isolation = isDaemon
    ? whenOpened(openIsolation({ process, settings, workflowPath, stateDir, logger }, surroundings))
    : withoutIsolation;
  const { isolationFor } = isolation;
  const examine = async (): Promise<void> => {
    const place = { workspace: settings.workspace.root, writes: [], reads: [] };
    const isBare = (await isolationFor(settings)(place)) === null;
    logger.info('machine_examined', { containment: await containment, isolated: !isBare });
    if (surroundings.uid === 0 && isBare) logger.warn('runs_as_root');
  };
  const mayStart = isDaemon ? examine() : containment.then(() => {});
  // If it rejects, so does the start of the orchestrator. A Baton that ends before it waits: no program of it outlives it.
  const examined = mayStart.catch(() => {});
  opened.defer(() => examined);
  const store = opened.use(await openStore({ url: place.storeUrl, clock, logger, mode: options.role }));
  const project = (await store.projects.ensure(settings.project.name, clock.now())).id;
  const remote = opened.use(
    new Remote({
      clock,
      logger,
      store,
      surroundings,
      project,
      storeKey: describeLocation(parseStoreUrl(place.storeUrl)),
      limiters: options.limiters ?? createLimiterRegistry(clock),
      budget: () => settingsNow().polling.budget,
      onSent: (sent) => options.api?.metrics.requestSent(sent),
    }),
  );
  const boardWatch = createBoardWatch({ news: store.boardChanges, project, logger });
  const storage: BoardStorage = {
    store,
    project,
    clock,
    chance,
    onChange: () => {
      orchestrator.refresh();
      boardWatch.check();
    },
  };
  const trackerFor = trackerMaker({ clock, logger, remote, storage }, taskReads(store, project), surroundings);
  const trustFor = createTextTrust({ runTexts: store.runTexts, project, trackerFor, clock, logger });
  const board = (): Board => openBoard(settingsNow().tracker, storage, surroundings);
  const issueIdOf = async (name: string): Promise<string> => {
    const { tracker } = settingsNow();
    const board = findTracker(tracker.kind, surroundings).openBoard?.(tracker, storage);
    return board === undefined ? name : (await board.find(name)).id;
  };
  // Created now, so that a bad issues file is reported at the start.
  trackerFor(settings);
  // Requests of previous daemons, and of other daemons on the store, count before the first request.
  await remote.refresh();
  const bounds = boundsOfBill(settings, (backend) => findBackend(backend, surroundings).reports);
  if (isDaemon && bounds.length > 0) logger.info('bill_bounded', { by: bounds.join('; ') });
  else if (isDaemon) logger.warn('bill_not_bounded');
  for (const { role, runsPerDay: runs_per_day, usdPerDay: usd_per_day } of isDaemon ? roleCosts(settings) : [])
    logger.info(`${role}_on`, { runs_per_day, usd_per_day });
  const isIsolated = (wanted: Settings): Promise<boolean> =>
    isIsolatedFromWorkflow(isolationFor(wanted), wanted, workflowPath);
  const workspaceParts = { ...process, workflowPath, stateDir, logger, isolationFor };
  const { resources, workspacesFor, files } = composeWorkspaces({
    ...workspaceParts,
    fetchBase: async (wanted, signal) => {
      const { base } = wanted.workspace;
      return (await pullsFor(wanted)?.remote?.fetchBase(base, signal)) ?? base;
    },
  });
  if (isDaemon) await refuseSharedRoot(settings.workspace, resources.places);
  // Git is not contained, so it does not wait for the sweep by itself, which would take it for one of a previous daemon.
  await swept;
  if (isDaemon) await warnOfRepository(settings, resources, logger);
  const pullsFor = pullsMaker({ ...resources, clock, logger, process, remote });
  const owner = store.engine === 'postgres' ? ownerId : null;
  const runChecks = checksMaker({ ...process, project, store, owner, resources, isolationFor, logger });
  const checkoutFor = judgeCheckoutMaker(resources);
  const prove = proverMaker({ ...process, resources, isolationFor });
  const toolHost = isDaemon ? await openTools(opened, markerId, logger, surroundings) : null;
  const runEvents = createRunEvents();
  const transcripts = transcriptFiles(path.join(stateDir, 'transcripts'));
  let lastTick: Health['tick'] | null = null;
  const health = new HealthFile({
    path: path.join(stateDir, 'health.json'),
    onError: (error) => logger.warn('health_file_write_failed', { error }),
  });
  const orchestrator: Orchestrator = opened.use(
    new Orchestrator({
      clock,
      chance,
      logger,
      source: workable,
      trackerFor,
      workspacesFor,
      pullsFor,
      runChecks,
      store,
      transcripts,
      project,
      runner: composeRunner(
        { process, isolation, trackerFor, trustFor, workspacesFor, checkoutFor, prove, toolHost, logger },
        surroundings,
      ),
      schemaProblem,
      isShared: store.engine === 'postgres',
      owner: ownerId,
      host: surroundings.hostName,
      onRunEvent: (runId, seq, event) => runEvents.publish(runId, seq, event),
      onRunEnd: ({ usage, ...run }) =>
        options.api?.metrics.runEnded({ project: settings.project.name, ...run, ...usage }),
      processes: processesOf(swept, resources, { clock, logger }),
      files,
      refreshRequests: () => remote.refresh(),
      touchedAt: lastTouch(workflowPath),
      readHeadroom: (wanted) => readHeadroom(wanted, stateDir),
      pool: options.pool?.join({ wake: () => orchestrator.fillSlots() }) ?? null,
      trial: options.trial,
      mayStart,
      onHealth: (record) => {
        if (!isDaemon) return;
        lastTick = record.tick;
        health.put(presentHealth(record));
        boardWatch.check();
        if (isStillOurs()) return;
        logger.error('state_folder_lost');
        void orchestrator.stop();
      },
    }),
  );
  opened.defer(() => health.flush());
  opened.defer(source.onChange(() => orchestrator.refresh()));
  opened.defer(takeOwnEdits({ source, runs: store.runs, project, logger, isIsolated }));
  if (isDaemon) {
    const { version } = surroundings;
    const facts = {
      clock,
      chance,
      source,
      transcripts,
      runEvents,
      boardWatch,
      resources,
      version,
      owner: ownerId,
      issueIdOf,
      tracker: () => trackerFor(settingsNow()),
      board,
      surroundings,
    };
    const known = { orchestrator, store, project, remote, settings: settingsNow, owner: ownerId, process, logger };
    const reached = { ...known, trackerFor, place, workflowPath, api: options.api, daemonId: markerId };
    await connectDaemon(
      opened,
      {
        ...reached,
        facts: {
          ...facts,
          place: { workflowPath, stateDir },
          lastTick: () => lastTick,
          findCheckout: (wanted) =>
            createCheckouts({ ...workspaceParts, ...resources, settings: wanted.workspace }).find,
          salvageFor: (wanted) => salvageFor(wanted, resources, workspaceParts),
          pullsFor,
        },
      },
      surroundings,
    );
  }
  const kept = opened.move();
  return {
    orchestrator,
    board,
    issueIdOf,
    endAtOnce: () => endAllAtOnce(orchestrator, clock),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** A daemon locks its state folder and takes its identity from it; a visitor has no identity. */
function takeIdentity(
  opened: AsyncDisposableStack,
  stateDir: string,
  { role, logger }: DaemonOptions,
  { chance, hostName }: Surroundings,
): Pick<StateFolder, 'ownerId' | 'markerId' | 'isStillOurs'> {
  if (role === 'visitor') return { ownerId: 'visitor', markerId: chance.id(), isStillOurs: () => true };
  const folder = takeStateFolder(stateDir, { hostName, chance, logger });
  opened.defer(() => folder.release());
  return folder;
}
