import type { Processes } from '../../src/orchestrator/parts.ts';
import type { Life } from './life.ts';
import type { SimulatedProcess } from './process-table.ts';
import type { World } from './world.ts';

/** How fast a process is gone that is not asked first. */
const atOnceMs = 200;

/** What a daemon finds and ends on its own machine, as a sweep for markers does it. */
export function simulatedProcesses(world: World, life: Life): Processes {
  const { processes } = world;
  const here = (): SimulatedProcess[] => processes.all().filter(({ machine }) => machine === life.machine);
  const end = async (found: readonly SimulatedProcess[], mostMs?: number): Promise<readonly SimulatedProcess[]> => {
    await Promise.all(found.map((process) => world.endProcess(process, mostMs)));
    return found.filter((process) => processes.isLive(process));
  };
  return {
    endLeftovers: () =>
      life.call('endLeftovers', async () => {
        const found = here().filter((process) => process.daemon === life.daemon && process.life !== life.name);
        const left = await end(found);
        return { ended: found.length - left.length, left: left.map(({ runId }) => ({ runId })) };
      }),
    endRun: (runId) =>
      life.call('endRun', async () => {
        const found = here().filter((process) => process.runId === runId);
        const left = await end(found);
        return { ended: found.length - left.length, left: left.length };
      }),
    endAtOnce: (runIds) =>
      life.call('endAtOnce', async () => {
        const wanted = new Set(runIds);
        await end(
          here().filter(({ runId }) => wanted.has(runId)),
          atOnceMs,
        );
      }),
    isAlive: ({ pid, startTime }) => here().some((process) => process.pid === pid && process.startTime === startTime),
  };
}
