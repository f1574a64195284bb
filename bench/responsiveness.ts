import path from 'node:path';
import { overSocket } from '../src/client/send.ts';
import { sleep } from '../src/clock/clock.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import type { ProcessDeps } from '../src/process/start-child.ts';
import type { Runner } from '../src/runner/runner.ts';
import { MemoryTracker } from '../src/tracker/memory/memory-tracker.ts';
import type { Tracker } from '../src/tracker/tracker.ts';
import { issue } from '../test/fake/issues.ts';
import { openBenchDaemon, processDeps } from './bench-daemon.ts';
import { percentile } from './measure.ts';
import { type Figure, ratioOf } from './report.ts';
import { Scratch } from './scratch.ts';
import { workflowText } from './workflow-text.ts';

const slowMs = 10_000;
const exits = 100;
const askEveryMs = 50;
const patienceMs = 60_000;

/**
 * Whether a slow tracker slows down the daemon: each call takes ten seconds, and one is nearly always in progress. Measured:
 * the time from the exit of a run until its end is recorded, and a status read over the local socket. Compared with: a
 * tracker that answers at once.
 */
export async function benchResponsiveness(): Promise<readonly Figure[]> {
  using scratch = new Scratch();
  const deps = await processDeps();
  const instant = await watch(scratch, 'instant', 0, deps);
  const slow = await watch(scratch, 'slow', slowMs, deps);
  const figure = (what: string, seen: readonly number[], base: readonly number[]): Figure => ({
    what: `${what}, p99 of ${seen.length}, while each call to the tracker takes ten seconds`,
    seen: `${percentile(seen, 0.99).toFixed(1)} ms (median ${percentile(seen, 0.5).toFixed(1)})`,
    aim: '50 ms',
    ratio: ratioOf(
      percentile(seen, 0.99),
      percentile(base, 0.99),
      `an instant tracker (${percentile(base, 0.99).toFixed(1)} ms)`,
    ),
  });
  return [
    figure('from the exit of a run until its end is recorded', slow.settlements, instant.settlements),
    figure('a status read over the socket', slow.reads, instant.reads),
  ];
}

interface Watched {
  readonly settlements: readonly number[];
  readonly reads: readonly number[];
}

async function watch(scratch: Scratch, name: string, delayMs: number, deps: ProcessDeps): Promise<Watched> {
  const exitedAt = new Map<string, number>();
  const settlements: number[] = [];
  const reads: number[] = [];
  const tracker = late(delayMs);
  const watchRunner = (runner: Runner): Runner => ({
    start: (request) => {
      const live = runner.start(request);
      // Before any other part receives it, so that the whole reaction is measured.
      void live.outcome.then(() => {
        exitedAt.set(request.runId, performance.now());
        return tracker.changes?.moveIssue(request.issue.id, 'Done', { kind: 'orchestrator' });
      });
      return live;
    },
  });
  const workflow = workflowText({ intervalMs: 100, slots: exits, command: worksForSeconds });
  const workflowPath = scratch.write(`${name}/WORKFLOW.md`, workflow);
  const folder = path.join(scratch.folder, name, 'state');
  await using daemon = await openBenchDaemon({ folder, workflowPath, process: deps, tracker, watchRunner });
  const { orchestrator, socket } = daemon;
  // A run leaves the list of running ones right after its end is recorded.
  const unwatch = orchestrator.onChange(() => {
    if (exitedAt.size === 0) return;
    const running = new Set(orchestrator.read().running.map(({ runId }) => runId));
    for (const [runId, at] of exitedAt) {
      if (running.has(runId)) continue;
      exitedAt.delete(runId);
      settlements.push(performance.now() - at);
    }
  });
  await orchestrator.start();
  const ask = overSocket(socket, systemClock);
  const deadline = performance.now() + patienceMs;
  while (settlements.length < exits) {
    if (performance.now() > deadline) throw new Error(`only ${settlements.length} of ${exits} runs were settled`);
    const began = performance.now();
    const { status } = await ask({ method: 'GET', path: '/status', headers: {}, limitMs: patienceMs });
    if (status !== 200) throw new Error('the daemon gave no status');
    reads.push(performance.now() - began);
    await sleep(systemClock, askEveryMs);
  }
  unwatch();
  return { settlements, reads };
}

/** All begin together, and one ends every tenth of a second: the first after two seconds, the last after twelve. */
const worksForSeconds = 'n="$BATON_ISSUE_ID"; sleep $((n / 10 + 2)).$((n % 10))';

function late(delayMs: number): Tracker {
  const issues = Array.from({ length: exits }, (_, index) =>
    issue({ id: `${index}`, identifier: `BAT-${index}`, state: 'Todo', createdAt: index }),
  );
  const tracker = new MemoryTracker({ issues, states: ['Todo', 'Done'], clock: systemClock });
  return {
    kind: 'memory',
    changes: tracker.changes,
    fetchByStates: async (states, ask) => {
      await sleep(systemClock, delayMs, ask?.signal);
      return tracker.fetchByStates(states, ask);
    },
    fetchByIds: async (ids, ask) => {
      await sleep(systemClock, delayMs, ask?.signal);
      return tracker.fetchByIds(ids, ask);
    },
  };
}
