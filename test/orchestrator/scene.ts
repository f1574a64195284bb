import { seededChance } from '../../src/clock/seeded-chance.ts';
import { SimulatedClock } from '../../src/clock/simulated-clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Issue } from '../../src/core/issue.ts';
import type { RunOutcome, StopReason } from '../../src/core/run.ts';
import type { Settings } from '../../src/core/settings.ts';
import type { Workflow } from '../../src/core/workflow.ts';
import type { Trial } from '../../src/orchestrator/context.ts';
import type { Health } from '../../src/orchestrator/health.ts';
import { Orchestrator } from '../../src/orchestrator/orchestrator.ts';
import type { Runner, RunRequest } from '../../src/runner/runner.ts';
import type { Store } from '../../src/store/store.ts';
import { MemoryTracker } from '../../src/tracker/memory/memory-tracker.ts';
import { fakeWorkspaces } from '../fake/fake-workspaces.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { settings as someSettings } from '../fake/settings.ts';

/** A run that does nothing until a test ends it. */
export interface StagedRun {
  readonly request: RunRequest;
  readonly stops: StopReason[];
  succeed(): void;
  fail(code?: 'agent_exited' | 'agent_input_required' | 'agent_survives'): void;
  /** Ends as a run does that was asked to stop. */
  cancel(): void;
}

export interface SceneOptions {
  readonly issues?: readonly Issue[];
  readonly settings?: Settings;
  /** The store of an earlier scene, for a second life. */
  readonly store?: Store;
  readonly trial?: Trial;
  readonly clock?: SimulatedClock;
  readonly tracker?: MemoryTracker;
  readonly owner?: string;
  /** As on PostgreSQL, where other daemons may use the same store. */
  readonly isShared?: boolean;
  /** How many processes of an earlier life cannot be ended. */
  readonly processesLeft?: number;
}

/** The real orchestrator, the real store and the real memory tracker under a simulated clock, with runs that a test plays. */
export async function scene(options: SceneOptions = {}) {
  const clock = options.clock ?? new SimulatedClock();
  const logger = memoryLogger();
  const tracker =
    options.tracker ??
    new MemoryTracker({ issues: options.issues ?? [], states: ['Backlog', 'Todo', 'In Progress', 'Done'], clock });
  const runs: StagedRun[] = [];
  const transcript: string[] = [];
  const swept: string[] = [];
  const endedAtOnce: string[] = [];
  const dead = new Set<number>();
  const health: Health[] = [];
  const workspaces = fakeWorkspaces();
  /** Runs whose transcript was removed. */
  const forgotten: string[] = [];
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
  const store = options.store ?? (await scratchStore(clock));
  const project = (await store.projects.ensure('test', 0)).id;
  const orchestrator = new Orchestrator({
    store,
    project,
    host: 'here',
    trial: options.trial ?? null,
    owner: options.owner ?? 'this-daemon',
    isShared: options.isShared ?? false,
    pool: null,
    onHealth: (record) => void health.push(record),
    workspacesFor: () => workspaces.as,
    processes: {
      endEarlierLives: async () => ({ ended: 0, left: [] }),
      endRun: async (runId) => {
        swept.push(runId);
        return { ended: 1, left: options.processesLeft ?? 0 };
      },
      endAtOnce: async (runIds) => void endedAtOnce.push(...runIds),
      isAlive: ({ pid }) => !dead.has(pid),
    },
    transcripts: {
      append: async (_runId, lines) => void transcript.push(...lines),
      remove: async (runIds) => void forgotten.push(...runIds),
    },
    clock,
    // Another life on the same store must not make the same run ids again.
    chance: seededChance((await store.runs.list(project, { limit: 1_000 })).length),
    logger,
    source,
    trackerFor: () => tracker,
    runner: stagedRunner(runs),
  });
  /** Writes a command as the command line does, knocks, and gives the answer. */
  const command = async (kind: string, payload: Record<string, unknown> = {}) => {
    const draft = { id: `${kind}-${clock.monotonic()}-${Math.random()}`, project, kind, payload, key: null };
    const { command: written } = await store.commands.submit({
      ...draft,
      author: { kind: 'person', name: 'me' },
      at: clock.now(),
    });
    orchestrator.wake();
    await clock.advance(0);
    return (await store.commands.read(written.id))?.result ?? null;
  };
  return {
    clock,
    logger,
    tracker,
    runs,
    file,
    orchestrator,
    store,
    project,
    command,
    transcript,
    swept,
    forgotten,
    endedAtOnce,
    dead,
    health,
    workspaces,
  };
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
