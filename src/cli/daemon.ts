import { sleep } from '../clock/clock.ts';
import { systemChance } from '../clock/system-chance.ts';
import { systemClock } from '../clock/system-clock.ts';
import type { Logger } from '../core/logger.ts';
import { Orchestrator } from '../orchestrator/orchestrator.ts';
import { childEnvironment, usualVariables } from '../process/child-environment.ts';
import { type CustodyReport, probeCustody } from '../process/probe-custody.ts';
import { sweepRun } from '../process/sweep-run.ts';
import { createRunner } from '../runner/run-issue.ts';
import { openToolDoor } from '../tools/registry.ts';
import type { MemoryTracker } from '../tracker/memory/memory-tracker.ts';
import { WorkflowFile } from '../workflow/workflow-file.ts';
import { createLocalWorkspaces } from '../workspace/local-workspaces.ts';
import { createAgent, trackerMaker, workflowContext } from './adapters.ts';
import type { Surroundings } from './surroundings.ts';
import { workableSource } from './workable-source.ts';

/** How soon the next sweep follows when everything is to end at once. */
const sweepAgainMs = 20;

/** All rooms put together for one workflow file. */
export interface Daemon extends AsyncDisposable {
  readonly orchestrator: Orchestrator;
  readonly custody: CustodyReport;
  /** The tracker of the workflow as it is now. */
  tracker(): MemoryTracker;
  /** Ends every agent without asking it first, and every hook that follows it, until the orchestrator is closed. */
  endAtOnce(): Promise<void>;
}

/** Reads the workflow file and composes the daemon; nothing runs before `orchestrator.start()`. */
export async function createDaemon(workflowPath: string, logger: Logger, surroundings: Surroundings): Promise<Daemon> {
  const clock = systemClock;
  const source = await WorkflowFile.start({
    path: workflowPath,
    context: workflowContext(surroundings),
    clock,
    logger,
  });
  try {
    const workable = workableSource(source, logger);
    const { settings } = workable.read().workflow;
    const trackerFor = trackerMaker(clock);
    // Made now, so that a bad issues file is told at the start.
    trackerFor(settings);
    const custody = await probe(surroundings);
    const process = { clock, custody: custody.custody, daemonEnv: surroundings.env };
    const orchestrator = new Orchestrator({
      clock,
      chance: systemChance,
      logger,
      source: workable,
      trackerFor,
      runner: createRunner({
        logger,
        agentFor: (wanted) => createAgent(wanted, process, surroundings),
        workspacesFor: ({ workspace, hooks, tracker }) =>
          createLocalWorkspaces({
            ...process,
            logger,
            root: workspace.root,
            hooks,
            secretEnvironment: tracker.secretEnvironment,
          }),
        toolDoorFor: (wanted, run) => openToolDoor({ ...run, tracker: trackerFor(wanted) }),
        readIssue: async (wanted, id, signal) => (await trackerFor(wanted).fetchByIds([id], signal))[0] ?? null,
      }),
    });
    const unwatch = source.onChange(() => orchestrator.refresh());
    return {
      orchestrator,
      custody,
      tracker: () => trackerFor(workable.read().workflow.settings),
      endAtOnce: async () => {
        let isClosed = false;
        void orchestrator.closed.then(() => {
          isClosed = true;
        });
        while (!isClosed) {
          const { running } = orchestrator.read();
          await Promise.all(running.map(({ runId }) => sweepRun(runId, { clock }, { graceMs: 0 })));
          await sleep(clock, sweepAgainMs);
        }
      },
      [Symbol.asyncDispose]: async () => {
        unwatch();
        await orchestrator.stop();
        await source.stop();
      },
    };
  } catch (error) {
    await source.stop();
    throw error;
  }
}

/** How this machine lets Baton hold on to what it starts. */
export function probe(surroundings: Surroundings): Promise<CustodyReport> {
  const env = childEnvironment({ from: surroundings.env, allow: usualVariables, deny: [] });
  return probeCustody({ env, clock: systemClock, chance: systemChance });
}
