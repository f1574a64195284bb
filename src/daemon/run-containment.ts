import type { AgentProcess } from '../agent/agent.ts';
import { type Clock, sleep } from '../clock/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { Orchestrator } from '../orchestrator/orchestrator.ts';
import type { Processes } from '../orchestrator/parts.ts';
import { childEnvironment, usualVariables } from '../process/child-environment.ts';
import { isAlive } from '../process/containment/is-alive.ts';
import { type ContainmentReport, probeContainment } from '../process/containment/probe-containment.ts';
import { endRunsAtOnce, type Swept, sweepRun } from '../process/containment/sweep.ts';
import { probeIsolation } from '../process/isolation/probe-isolation.ts';
import { clearAfterRestart, type WorkspaceResources } from '../workspace/workspace-resources.ts';
import type { Surroundings } from './surroundings.ts';

/** The pause between two sweeps when everything must end at once. */
const sweepAgainMs = 20;

/** Finds out which containment of child processes this machine supports. */
export function probeMachine(surroundings: Surroundings, daemonId: string): Promise<ContainmentReport> {
  const env = childEnvironment({ from: surroundings.env, allow: usualVariables, deny: [] });
  const { clock, chance } = surroundings;
  return probeContainment({ env, clock, chance, daemonId });
}

/** Whether agents on this machine can be kept from seeing the files of the user. */
export async function canIsolate(surroundings: Surroundings): Promise<boolean> {
  const { clock, chance } = surroundings;
  const env = childEnvironment({ from: surroundings.env, allow: usualVariables, deny: [] });
  const daemonId = chance.id();
  const { containment } = await probeMachine(surroundings, daemonId);
  return (await probeIsolation({ env, clock, chance, daemonId }, containment)).isAvailable;
}

/** What this machine can do with the processes of runs. */
export function processesOf(
  /** What was ended of the processes of previous daemons. */
  swept: Promise<Swept>,
  resources: WorkspaceResources,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Processes {
  const deps = { clock };
  return {
    endLeftovers: async () => {
      const ended = await swept;
      // Only now, when no process writes there any more.
      await clearAfterRestart(resources, logger);
      return ended;
    },
    endRun: (runId, began) => sweepRun(runId, deps, leaderOf(began)),
    endAtOnce: async (runIds) => void (await endRunsAtOnce(runIds, deps)),
    isAlive,
  };
}

/** Kills every agent, and every hook that follows it, until the orchestrator is closed. */
export async function endAllAtOnce(orchestrator: Orchestrator, clock: Clock): Promise<void> {
  let isClosed = false;
  void orchestrator.closed.then(() => {
    isClosed = true;
  });
  while (!isClosed) {
    const { running } = orchestrator.read();
    await endRunsAtOnce(
      running.map(({ runId }) => runId),
      { clock },
    );
    await sleep(clock, sweepAgainMs);
  }
}

/** The process that a run began with, as leader of its session; empty when its start time is unknown. */
function leaderOf(began: AgentProcess | null): { leader?: { pid: number; startTime: number } } {
  return began?.startTime == null ? {} : { leader: { pid: began.pid, startTime: began.startTime } };
}
