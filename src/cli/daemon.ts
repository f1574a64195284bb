import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { sleep } from '../clock/clock.ts';
import { systemChance } from '../clock/system-chance.ts';
import { systemClock } from '../clock/system-clock.ts';
import type { Logger } from '../core/logger.ts';
import type { Trial } from '../orchestrator/context.ts';
import { Orchestrator } from '../orchestrator/orchestrator.ts';
import { childEnvironment, usualVariables } from '../process/child-environment.ts';
import { type CustodyReport, probeCustody } from '../process/probe-custody.ts';
import { sweepRun } from '../process/sweep-run.ts';
import { createRunner, type RunnerParts } from '../runner/run-issue.ts';
import { LocalSocket } from '../server/local-socket.ts';
import { presentStatus } from '../server/present-status.ts';
import { openStore } from '../store/open-store.ts';
import { transcriptFiles } from '../store/transcript-files.ts';
import { openToolDoor } from '../tools/registry.ts';
import type { Board } from '../tracker/board/board.ts';
import { WorkflowFile } from '../workflow/workflow-file.ts';
import { createLocalWorkspaces } from '../workspace/local-workspaces.ts';
import { createAgent, workflowContext } from './adapters.ts';
import type { Surroundings } from './surroundings.ts';
import { openBoard, type TrackerParts, trackerMaker } from './trackers.ts';
import { workableSource } from './workable-source.ts';
import { statePlace } from './workplace.ts';

/** How soon the next sweep follows when everything is to end at once. */
const sweepAgainMs = 20;

export interface DaemonOptions {
  readonly workflowPath: string;
  /** As given on the command line. */
  readonly stateDir: string | undefined;
  readonly trial: Trial | null;
  /** A visitor looks at the store beside a daemon that may run, starts nothing and listens to nobody. */
  readonly role: 'daemon' | 'visitor';
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
  const workable = workableSource(source, logger);
  const { settings } = workable.read().workflow;
  const place = statePlace(workflowPath, settings, options.stateDir, surroundings);
  const store = opened.use(await openStore({ url: place.storeUrl, clock, logger, mode: options.role }));
  const project = (await store.projects.ensure(settings.project.name, clock.now())).id;
  const trackerParts: TrackerParts = {
    clock,
    chance: systemChance,
    store,
    project,
    onBoardChange: () => orchestrator.refresh(),
  };
  const trackerFor = trackerMaker(trackerParts);
  // Made now, so that a bad issues file is told at the start.
  trackerFor(settings);
  const custody = await probe(surroundings);
  const process = { clock, custody: custody.custody, daemonEnv: surroundings.env };
  const runnerParts: RunnerParts = {
    logger,
    agentFor: (wanted) => createAgent(wanted, process, surroundings),
    workspacesFor: ({ workspace: { root }, hooks, secretEnvironment }) =>
      createLocalWorkspaces({ ...process, logger, root, hooks, secretEnvironment }),
    toolDoorFor: (wanted, run) => openToolDoor({ ...run, tracker: trackerFor(wanted) }),
    readIssue: async (wanted, id, signal) => (await trackerFor(wanted).fetchByIds([id], signal))[0] ?? null,
  };
  const orchestrator: Orchestrator = opened.use(
    new Orchestrator({
      clock,
      chance: systemChance,
      logger,
      source: workable,
      trackerFor,
      runner: createRunner(runnerParts),
      store,
      project,
      host: surroundings.hostName,
      transcripts: transcriptFiles(path.join(place.stateDir, 'transcripts')),
      endProcessesOf: (runId) => sweepRun(runId, { clock }),
      trial: options.trial,
    }),
  );
  opened.defer(source.onChange(() => orchestrator.refresh()));
  if (options.role === 'daemon') {
    // With PostgreSQL nothing else has made it.
    await mkdir(path.dirname(place.socket), { recursive: true, mode: 0o700 });
    const answers = {
      wake: () => orchestrator.wake(),
      reload: () => orchestrator.reload(),
      status: () => presentStatus(orchestrator.read()),
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

async function endAtOnce(orchestrator: Orchestrator): Promise<void> {
  let isClosed = false;
  void orchestrator.closed.then(() => {
    isClosed = true;
  });
  while (!isClosed) {
    const { running } = orchestrator.read();
    await Promise.all(running.map(({ runId }) => sweepRun(runId, { clock: systemClock }, { graceMs: 0 })));
    await sleep(systemClock, sweepAgainMs);
  }
}

/** How this machine lets Baton hold on to what it starts. */
export function probe(surroundings: Surroundings): Promise<CustodyReport> {
  const env = childEnvironment({ from: surroundings.env, allow: usualVariables, deny: [] });
  return probeCustody({ env, clock: systemClock, chance: systemChance });
}
