import type { Processes } from '../../src/orchestrator/parts.ts';
import type { Incarnation } from './incarnation.ts';
import type { SimulatedProcess } from './process-table.ts';
import type { World } from './world.ts';

/** How fast a process is gone after KILL. */
const atOnceMs = 200;

/** Finds and ends processes on the machine of a daemon, like a marker sweep. */
export function simulatedProcesses(world: World, incarnation: Incarnation): Processes {
  const { processes } = world;
  const here = (): SimulatedProcess[] => processes.all().filter(({ machine }) => machine === incarnation.machine);
  const end = async (found: readonly SimulatedProcess[], mostMs?: number): Promise<readonly SimulatedProcess[]> => {
    await Promise.all(found.map((process) => world.endProcess(process, mostMs)));
    return found.filter((process) => processes.isLive(process));
  };
  return {
    endLeftovers: () =>
      incarnation.call('endLeftovers', async () => {
        const found = here().filter(
          (process) => process.daemon === incarnation.daemon && process.incarnation !== incarnation.name,
        );
        const left = await end(found);
        return { ended: found.length - left.length, left: left.map(({ runId }) => ({ runId })) };
      }),
    endRun: (runId) =>
      incarnation.call('endRun', async () => {
        const found = here().filter((process) => process.runId === runId);
        const left = await end(found);
        return { ended: found.length - left.length, left: left.length };
      }),
    endAtOnce: (runIds) =>
      incarnation.call('endAtOnce', async () => {
        const wanted = new Set(runIds);
        await end(
          here().filter(({ runId }) => wanted.has(runId)),
          atOnceMs,
        );
      }),
    isAlive: ({ pid, startTime }) => here().some((process) => process.pid === pid && process.startTime === startTime),
  };
}
