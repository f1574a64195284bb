import { seededChance } from '../../src/clock/seeded-chance.ts';
import { SimulatedClock } from '../../src/clock/simulated-clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Issue } from '../../src/core/issue.ts';
import type { RunOutcome, StopReason } from '../../src/core/run.ts';
import type { Settings } from '../../src/core/settings.ts';
import type { Workflow } from '../../src/core/workflow.ts';
import { Orchestrator } from '../../src/orchestrator/orchestrator.ts';
import type { Runner, RunRequest } from '../../src/runner/runner.ts';
import { MemoryTracker } from '../../src/tracker/memory/memory-tracker.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { settings as someSettings } from '../fake/settings.ts';

/** A run that does nothing until a test ends it. */
export interface StagedRun {
  readonly request: RunRequest;
  readonly stops: StopReason[];
  succeed(): void;
  fail(code?: 'agent_exited' | 'agent_input_required'): void;
  /** Ends as a run does that was asked to stop. */
  cancel(): void;
}

/** The real orchestrator and the real memory tracker under a simulated clock, with runs that a test plays. */
export function scene(options: { issues?: readonly Issue[]; settings?: Settings } = {}) {
  const clock = new SimulatedClock();
  const logger = memoryLogger();
  const tracker = new MemoryTracker({
    issues: options.issues ?? [],
    states: ['Backlog', 'Todo', 'In Progress', 'Done'],
    clock,
  });
  const runs: StagedRun[] = [];
  const file = { settings: options.settings ?? someSettings(), problem: null as BatonError | null };
  const source = {
    read: () => ({
      workflow: {
        path: '/w/WORKFLOW.md',
        revision: '1',
        settings: file.settings,
        renderPrompt: () => '',
      } satisfies Workflow,
      problem: file.problem,
    }),
  };
  const orchestrator = new Orchestrator({
    clock,
    chance: seededChance(1),
    logger,
    source,
    trackerFor: () => tracker,
    runner: stagedRunner(runs),
  });
  return { clock, logger, tracker, runs, file, orchestrator };
}

function stagedRunner(runs: StagedRun[]): Runner {
  return {
    start: (request) => {
      const { promise, resolve } = Promise.withResolvers<RunOutcome>();
      const stops: StopReason[] = [];
      const failWith = (end: 'failed' | 'stalled' | 'canceled_by_reconciliation', code: BatonError['code']): void =>
        resolve({ end, turns: 1, error: new BatonError(code, `it ended: ${code}`) });
      runs.push({
        request,
        stops,
        succeed: () => resolve({ end: 'succeeded', turns: 1 }),
        fail: (code = 'agent_exited') => failWith('failed', code),
        cancel: () =>
          stops[0] === 'stalled'
            ? failWith('stalled', 'run_stalled')
            : failWith('canceled_by_reconciliation', 'run_cancelled'),
      });
      return { outcome: promise, stop: (reason) => void stops.push(reason) };
    },
  };
}
