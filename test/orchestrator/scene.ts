import type { Clock, Timer } from '../../src/clock/clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Headroom } from '../../src/core/dispatch/headroom.ts';
import type { ErrorCode } from '../../src/core/error-catalogue.ts';
import type { Issue } from '../../src/core/issue/issue.ts';
import type { RunOutcome, StopReason } from '../../src/core/run/run.ts';
import { stopOutcome } from '../../src/core/run/stop-outcome.ts';
import type { Settings } from '../../src/core/settings.ts';
import type { Workflow } from '../../src/core/workflow.ts';
import { taskReads } from '../../src/daemon/trackers.ts';
import type { OrchestratorParts } from '../../src/orchestrator/assemble.ts';
import type { PoolMember } from '../../src/orchestrator/dispatch/slot-pool.ts';
import type { FilePruning } from '../../src/orchestrator/jobs/pruning.ts';
import { Orchestrator } from '../../src/orchestrator/orchestrator.ts';
import type { Processes, Trial } from '../../src/orchestrator/parts.ts';
import type { Health } from '../../src/orchestrator/view/health.ts';
import type { LiveRun, Runner, RunRequest } from '../../src/runner/runner.ts';
import type { Store } from '../../src/store/store.ts';
import { schemaProblem } from '../../src/tools/phase-tools.ts';
import { MemoryTracker } from '../../src/tracker/memory/memory-tracker.ts';
import type { IssueEditor, Tracker } from '../../src/tracker/tracker.ts';
import { withTasks } from '../../src/tracker/with-tasks.ts';
import { fakeWorkspaces } from '../fake/fake-workspaces.ts';
import { issue } from '../fake/issues.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { noFiles } from '../fake/no-files.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { seededChance } from '../fake/seeded-chance.ts';
import { settings as someSettings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';

/** A run that does nothing until a test ends it. */
export interface StagedRun {
  readonly request: RunRequest;
  readonly stops: StopReason[];
  /** What a person said to it. */
  readonly heard: string[];
  succeed(): void;
  /** Fails with this code, and these facts for programs. */
  fail(code?: ErrorCode, details?: Readonly<Record<string, unknown>>): void;
  /** Fails before there is a session. */
  failToLaunch(): void;
  /** The same with another code. */
  failEarly(code: ErrorCode): void;
  /** Ends as a run does that was asked to stop. */
  cancel(): void;
  /** Ends as the real runner does when it was asked to stop, by the reason it was given. */
  end(): void;
  /** Breaks the promise that an outcome never rejects. */
  crash(): void;
}

/** The machine's disk and memory, as a test wants them. */
export interface StagedRoom {
  read: () => Promise<Headroom>;
}

/** More than any floor asks for. */
export function plentyOfRoom(): StagedRoom {
  return { read: async () => ({ disk: [{ folder: '/nowhere', freeMb: 1_000_000 }], memoryMb: 1_000_000 }) };
}

/** A read of the tracker, as the orchestrator asked for it. */
export interface TrackerCall {
  readonly kind: 'states' | 'ids';
  readonly asked: readonly string[];
  readonly at: number;
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
  readonly processes?: Partial<Processes>;
  readonly pool?: PoolMember;
  readonly files?: Partial<FilePruning>;
  readonly pullsFor?: OrchestratorParts['pullsFor'];
  readonly runChecks?: OrchestratorParts['runChecks'];
  readonly room?: StagedRoom;
  /** The tracker is on this machine. */
  readonly isLocal?: boolean;
  /** Stands between this daemon alone and the store. */
  readonly through?: (store: Store) => Store;
  /** Where issues are Baton's own. */
  readonly issueEditor?: IssueEditor;
  /** Whether an agent hears a person at once, or at its next turn. */
  readonly steering?: Awaited<ReturnType<LiveRun['steer']>>;
  /** Another tracker instead of the one in memory, such as the board on this store; `wake` as a change of it does. */
  readonly otherTracker?: (parts: { readonly project: string; readonly wake: () => void }) => Tracker;
  /** Called with each run as it starts. */
  readonly play?: (run: StagedRun) => void;
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
  /** When a person last touched the file of activity. */
  const touch = { at: null as number | null };
  const swept: string[] = [];
  const endedAtOnce: string[] = [];
  const dead = new Set<number>();
  const health: Health[] = [];
  const workspaces = fakeWorkspaces();
  const room = options.room ?? plentyOfRoom();
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
        promptOf: () => ({ version: 'v1', source: 'test' }),
        renderBranch: ({ identifier }) => `baton/${identifier}`,
      } satisfies Workflow,
      problem: file.problem,
    }),
  };
  const store = options.store ?? (await scratchStore(clock));
  const project = (await store.projects.ensure('test', 0)).id;
  const calls: TrackerCall[] = [];
  const life = mortalClock(clock);
  const owner = options.owner ?? 'this-daemon';
  const wake = (): void => orchestrator.wake();
  const counted = options.otherTracker?.({ project, wake }) ?? countedTracker(tracker, calls, clock, options);
  const orchestrator: Orchestrator = new Orchestrator({
    store: options.through?.(store) ?? store,
    project,
    host: 'here',
    trial: options.trial ?? null,
    owner,
    isShared: options.isShared ?? false,
    schemaProblem,
    pool: options.pool ?? null,
    onHealth: (record) => void health.push(record),
    workspacesFor: () => workspaces.as,
    files: { ...noFiles, ...options.files },
    pullsFor: options.pullsFor ?? (() => null),
    runChecks: options.runChecks ?? (async () => {}),
    readHeadroom: () => room.read(),
    refreshRequests: async () => {},
    touchedAt: () => touch.at,
    processes: {
      endLeftovers: async () => ({ ended: 0, left: [] }),
      endRun: async (runId) => {
        swept.push(runId);
        return { ended: 1, left: options.processesLeft ?? 0 };
      },
      endAtOnce: async (runIds) => void endedAtOnce.push(...runIds),
      isAlive: ({ pid }) => !dead.has(pid),
      ...options.processes,
    },
    transcripts: {
      append: async (_runId, lines) => void transcript.push(...lines),
      remove: async (runIds) => void forgotten.push(...runIds),
      list: async () => [],
    },
    clock: life.clock,
    // Another life, or another daemon, on the same store must not make the same run ids again.
    chance: seededChance((await store.runs.list(project, { limit: 1_000 })).length + seedOf(owner)),
    logger,
    source,
    trackerFor: (settings) => withTasks(counted, taskReads(store, project), settings.tracker),
    runner: stagedRunner(runs, options),
  });
  /** Writes a command as the command line does, drains the queue, and gives the answer. */
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
    touch,
    health,
    workspaces,
    room,
    calls,
    /** As by SIGKILL: nothing of this daemon moves any more, and nothing of it is tidied up. */
    kill: life.end,
    started: (): string[] => runs.map(({ request }) => request.issue.id),
  };
}

export type Scene = Awaited<ReturnType<typeof scene>>;

/** A scene that has started and had its first tick. */
export async function begun(options: SceneOptions = {}): Promise<Scene> {
  const stage = await scene({ issues: [issue({ id: '1' })], settings: someSettings({ intervalMs: 100 }), ...options });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  return stage;
}

/** Two daemons on one store, one tracker and one clock, as on PostgreSQL. Neither has started. */
export async function pair(options: SceneOptions = {}): Promise<readonly [Scene, Scene]> {
  const one = await scene({ ...options, owner: 'one', isShared: true });
  return [one, await besides(one, options)];
}

/** Another daemon on the store of a scene. */
export function besides({ store, clock, tracker }: Scene, options: SceneOptions = {}): Promise<Scene> {
  return scene({ owner: 'other', ...options, store, clock, tracker, isShared: true });
}

/** Tells that a run has used so many tokens in all. */
export function spend(run: StagedRun | undefined, totalTokens: number, costMicroUsd = 0): void {
  const usage = { inputTokens: totalTokens, outputTokens: 0, totalTokens, costMicroUsd };
  run?.request.report({ kind: 'event', event: { name: 'notification', at: 0, pid: 1, summary: '', usage } });
}

/** A gate that work waits at until a test opens it. */
export function gate(): { readonly passed: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: resolve };
}

function seedOf(owner: string): number {
  return owner === 'this-daemon' ? 0 : [...owner].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) * 1_000;
}

/** The clock of one daemon, which may die while the others go on. */
function mortalClock(clock: Clock): { readonly clock: Clock; end(): void } {
  const timers = new Set<Timer>();
  let isDead = false;
  return {
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      schedule: (delayMs, action) => {
        if (isDead) return { cancel: () => {} };
        const timer = clock.schedule(delayMs, () => {
          timers.delete(timer);
          action();
        });
        timers.add(timer);
        return timer;
      },
    },
    end: () => {
      isDead = true;
      for (const timer of timers) timer.cancel();
    },
  };
}

function countedTracker(
  tracker: MemoryTracker,
  calls: TrackerCall[],
  clock: Clock,
  { isLocal = false, issueEditor }: Pick<SceneOptions, 'isLocal' | 'issueEditor'>,
): Tracker {
  const count = (kind: TrackerCall['kind'], asked: readonly string[]): void =>
    void calls.push({ kind, asked: [...asked], at: clock.monotonic() });
  // A test may put another answer in the tracker's place at any time: each is looked up when it is asked for.
  const reads: Partial<Tracker> = {
    isLocal,
    ...(issueEditor === undefined ? {} : { editor: issueEditor }),
    fetchByStates: (states, ask) => {
      count('states', states);
      return tracker.fetchByStates(states, ask);
    },
    fetchChildren: (ids, ask) => tracker.fetchChildren(ids, ask),
    fetchByIds: (ids, ask) => {
      count('ids', ids);
      return tracker.fetchByIds(ids, ask);
    },
  };
  return new Proxy<Tracker>(tracker, {
    get: (target, name) => Reflect.get(Object.hasOwn(reads, name) ? reads : target, name),
  });
}

function stagedRunner(runs: StagedRun[], { play, steering = 'delivered' }: SceneOptions): Runner {
  return {
    start: (given) => {
      const { promise, resolve, reject } = Promise.withResolvers<RunOutcome>();
      let hasExamined = false;
      const report: typeof given.report = (fact) => {
        hasExamined ||= fact.kind === 'changed';
        given.report(fact);
      };
      const request = { ...given, report };
      const stops: StopReason[] = [];
      const heard: string[] = [];
      const failWith = (
        end: 'failed' | 'stalled' | 'canceled_by_reconciliation',
        code: ErrorCode,
        details: Readonly<Record<string, unknown>> = {},
      ): void => resolve({ end, turns: 1, error: new BatonError(code, `it ended: ${code}`, { details }) });
      const run: StagedRun = {
        request,
        stops,
        heard,
        succeed: () => {
          if (!hasExamined) request.report({ kind: 'changed', changed: true, facts: null });
          resolve({ end: 'succeeded', turns: 1 });
        },
        fail: (code = 'agent_exited', details = {}) => failWith('failed', code, details),
        failToLaunch: () => run.failEarly('agent_exited'),
        failEarly: (code) => resolve({ end: 'failed', turns: 0, error: new BatonError(code, `it ended: ${code}`) }),
        cancel: () =>
          stops[0] === 'stalled'
            ? failWith('stalled', 'run_stalled')
            : failWith('canceled_by_reconciliation', 'run_cancelled'),
        end: () => resolve(stopOutcome(stops[0] ?? 'shutdown', 1)),
        crash: () => reject(new Error('the runner broke')),
      };
      runs.push(run);
      play?.(run);
      return {
        outcome: promise,
        steer: async (text) => {
          heard.push(text);
          return steering;
        },
        stop: (reason) => void stops.push(reason),
      };
    },
  };
}
