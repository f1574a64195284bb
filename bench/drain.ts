import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Agent } from '../src/agent/agent.ts';
import { sleep } from '../src/clock/clock.ts';
import { systemChance } from '../src/clock/system-chance.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import { childEnvironment, usualVariables } from '../src/process/child-environment.ts';
import { launch } from '../src/process/launch.ts';
import type { ProcessDeps } from '../src/process/start-child.ts';
import { MemoryTracker } from '../src/tracker/memory/memory-tracker.ts';
import type { Tracker } from '../src/tracker/tracker.ts';
import { issue } from '../test/fake/issues.ts';
import { openBenchDaemon, processDeps } from './bench-daemon.ts';
import { type Figure, ratioOf } from './report.ts';
import { Scratch } from './scratch.ts';
import { workflowText } from './workflow-text.ts';

const issueCount = 200;
const slots = 10;
const lookEveryMs = 10;
const patienceMs = 120_000;

/**
 * Drains a tracker of 200 issues with 10 slots. The agent is a Node program that says `done` and exits, the smallest possible
 * agent. Compared with the same program, started as often, as many at a time and with the same containment, without a
 * scheduler: the ratio is the price of the scheduler.
 */
export async function benchDrain(): Promise<readonly Figure[]> {
  using scratch = new Scratch();
  const program = scratch.write('done.mjs', "process.stdout.write('done\\n');\n");
  const command = `'${process.execPath}' '${program}'`;
  const deps = await processDeps();
  // Not counted: the first time, everything is compiled.
  await drain(scratch, 'warm', { command, intervalMs: 30_000 }, deps);
  // Before and after, because the load of the machine changes.
  const first = await spawnAll(path.join(scratch.folder, 'bare-1'), command, deps);
  const slow = await drain(scratch, 'slow', { command, intervalMs: 30_000 }, deps);
  const second = await spawnAll(path.join(scratch.folder, 'bare-2'), command, deps);
  const fast = await drain(scratch, 'fast', { command, intervalMs: 100 }, deps);
  const bareMs = (first + second) / 2;
  const bare = `the bare spawns (${seconds(first)} before, ${seconds(second)} after)`;
  const title = `drain of ${issueCount} issues, ${slots} slots`;
  return [
    {
      what: `${title}, interval 30 s, until the end of the last run is recorded (containment ${deps.containment})`,
      seen: seconds(slow.settledMs),
      aim: '1.30 times',
      ratio: ratioOf(slow.settledMs, bareMs, bare),
    },
    {
      what: 'the same, until the last claim is released, by a retry a second after the end of the last run',
      seen: seconds(slow.freeMs),
      aim: null,
      ratio: ratioOf(slow.freeMs, bareMs, 'the bare spawns'),
    },
    {
      what: `reads of the tracker in that drain (${slow.byStates} by state)`,
      seen: `${slow.reads}`,
      aim: '30',
      ratio: null,
    },
    {
      what: `${title}, interval 100 ms (${fast.reads} reads)`,
      seen: seconds(fast.settledMs),
      aim: 'as with 30 s',
      ratio: ratioOf(fast.settledMs, slow.settledMs, 'the one with 30 s'),
    },
  ];
}

/** Starts the program once per issue, as an agent is started, at most `slots` at a time. */
async function spawnAll(folder: string, command: string, deps: ProcessDeps): Promise<number> {
  const env = childEnvironment({ from: process.env, allow: usualVariables, deny: [] });
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < issueCount) {
      const cwd = path.join(folder, `workspace-${next}`);
      next += 1;
      mkdirSync(cwd, { recursive: true });
      const request = { command: 'sh', args: ['-c', command], cwd, env, runId: systemChance.id() };
      const live = await launch({ ...request, stdin: { text: 'Work on it.' } }, deps);
      let said = '';
      for await (const line of live.lines) said += line.text;
      const exit = await live.exited;
      await live.stop({ closeStdinMs: 0 });
      if (said !== 'done' || exit.code !== 0)
        throw new Error(`a bare program ended with ${exit.code} and said ${said}`);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: slots }, worker));
  return performance.now() - began;
}

interface Drained {
  readonly settledMs: number;
  readonly freeMs: number;
  readonly reads: number;
  readonly byStates: number;
}

async function drain(
  scratch: Scratch,
  name: string,
  { command, intervalMs }: { readonly command: string; readonly intervalMs: number },
  deps: ProcessDeps,
): Promise<Drained> {
  const memory = memoryTracker();
  const { tracker, counts } = counted(memory);
  const workflowPath = scratch.write(`${name}/WORKFLOW.md`, workflowText({ intervalMs, slots, command }));
  const folder = path.join(scratch.folder, name, 'state');
  const watchAgent = (agent: Agent): Agent => movesWhenDone(agent, memory);
  await using daemon = await openBenchDaemon({ folder, workflowPath, process: deps, tracker, watchAgent });
  const { orchestrator } = daemon;
  const began = performance.now();
  await orchestrator.start();
  const isSettled = (): boolean => {
    const { running, totals } = orchestrator.read();
    return running.length === 0 && totals.runs >= issueCount;
  };
  await until(isSettled, () => `a drain did not end: ${left(memory)} issues are left`);
  const settledMs = performance.now() - began;
  await until(
    () => orchestrator.read().retrying.length === 0,
    () => 'a claim was not released',
  );
  const freeMs = performance.now() - began;
  const { runs } = orchestrator.read().totals;
  if (left(memory) > 0) throw new Error(`${left(memory)} issues were lost`);
  if (runs !== issueCount) throw new Error(`${issueCount} issues took ${runs} runs`);
  return { settledMs, freeMs, reads: counts.byStates + counts.byIds, byStates: counts.byStates };
}

function left(tracker: MemoryTracker): number {
  return tracker.all().filter(({ state }) => state !== 'Done').length;
}

function memoryTracker(): MemoryTracker {
  const issues = Array.from({ length: issueCount }, (_, index) =>
    issue({ id: `id-${index}`, identifier: `BAT-${index}`, state: 'Todo', createdAt: index }),
  );
  return new MemoryTracker({ issues, states: ['Todo', 'In Progress', 'Done'], clock: systemClock });
}

function counted(tracker: Tracker): { tracker: Tracker; counts: { byStates: number; byIds: number } } {
  const counts = { byStates: 0, byIds: 0 };
  const watched: Tracker = {
    kind: tracker.kind,
    changes: tracker.changes,
    fetchByStates: (states, signal) => {
      counts.byStates += 1;
      return tracker.fetchByStates(states, signal);
    },
    fetchByIds: (ids, signal) => {
      counts.byIds += 1;
      return tracker.fetchByIds(ids, signal);
    },
  };
  return { tracker: watched, counts };
}

/** Moves the issue when the agent says so, like an agent with the tools of the tracker. */
function movesWhenDone(agent: Agent, tracker: MemoryTracker): Agent {
  return {
    backend: agent.backend,
    startSession: (request) =>
      agent.startSession({
        ...request,
        onEvent: (event) => {
          const id = request.env.BATON_ISSUE_ID;
          const isDone = event.name === 'notification' && event.summary === 'done';
          if (isDone && id !== undefined)
            void tracker.changes.moveIssue(id, 'Done', { kind: 'run', runId: request.runId });
          request.onEvent(event);
        },
      }),
  };
}

async function until(isSo: () => boolean, complaint: () => string): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(complaint());
    await sleep(systemClock, lookEveryMs);
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
