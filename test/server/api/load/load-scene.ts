import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { AgentEvent } from '../../../../src/agent/agent.ts';
import { sleep, type Timer } from '../../../../src/clock/clock.ts';
import { watchLoopDelay } from '../../../../src/clock/loop-delay.ts';
import { systemChance } from '../../../../src/clock/system-chance.ts';
import { systemClock } from '../../../../src/clock/system-clock.ts';
import type { Logger } from '../../../../src/core/logger.ts';
import type { RunOutcome } from '../../../../src/core/run/run.ts';
import { createRunEvents, type RunEvents } from '../../../../src/daemon/services/run-events.ts';
import { Orchestrator } from '../../../../src/orchestrator/orchestrator.ts';
import type { Runner, RunRequest } from '../../../../src/runner/runner.ts';
import { type ApiProject, createApiProjects } from '../../../../src/server/api/api-project.ts';
import { createApi } from '../../../../src/server/api/create-api.ts';
import { createMetrics } from '../../../../src/server/api/metrics.ts';
import { openListener } from '../../../../src/server/listener.ts';
import { openStore } from '../../../../src/store/open-store.ts';
import type { Store } from '../../../../src/store/store.ts';
import { transcriptFiles } from '../../../../src/store/transcripts/transcript-files.ts';
import { MemoryTracker } from '../../../../src/tracker/memory/memory-tracker.ts';
import { fakeWorkspaces } from '../../../fake/fake-workspaces.ts';
import { issue } from '../../../fake/issues.ts';
import { noFiles } from '../../../fake/no-files.ts';
import { settings } from '../../../fake/settings.ts';

export interface LoadOptions {
  /** Everything of it is below. */
  readonly folder: string;
  readonly runs: number;
  /** Of each run. */
  readonly eventsASecond: number;
}

interface StreamingRun {
  readonly request: RunRequest;
  told: number;
  end(): void;
}

/** So often the runs are looked at for what they have to tell. */
const talkEveryMs = 10;
const patienceMs = 60_000;
const line = 'something that an agent tells about what it does, as long as such lines are';

/**
 * The scheduler as a daemon has it (real clock, store and transcripts on the disk), the API on a real listener, and runs
 * that tell events all the time: only the agents are not there. A test, or a bench, ends runs and sees the next ones start.
 */
export class LoadScene implements AsyncDisposable {
  readonly url: string;
  readonly orchestrator: Orchestrator;
  readonly #opened: AsyncDisposableStack;
  readonly #tracker: MemoryTracker;
  readonly #runner: StreamingRunner;
  #issues = 0;

  static async open(options: LoadOptions): Promise<LoadScene> {
    await using opened = new AsyncDisposableStack();
    const store = opened.use(
      await openStore({
        url: `sqlite:${path.join(options.folder, 'baton.db')}`,
        clock: systemClock,
        logger: silent,
        mode: 'daemon',
      }),
    );
    const project = (await store.projects.ensure('load', systemClock.now())).id;
    const tracker = new MemoryTracker({ issues: [], states: ['Todo', 'Done'], clock: systemClock });
    const runner = opened.use(new StreamingRunner(options.eventsASecond));
    const runEvents = createRunEvents();
    const orchestrator = opened.use(orchestratorOf({ ...options, store, project, tracker, runner, runEvents }));
    const registry = createApiProjects();
    registry.add(projectOf({ orchestrator, store, project, runEvents, folder: options.folder }));
    const delay = watchLoopDelay();
    opened.defer(() => delay.close());
    const net = { clock: systemClock, chance: systemChance, logger: silent };
    const api = createApi({
      ...net,
      projects: registry,
      metrics: createMetrics(registry, delay),
      version: '0.0.0',
      dashboardFolder: '/nowhere',
      // Each address is somebody else.
      identify: async (_, bindings) => ({
        scopes: new Set(['read'] as const),
        author: { kind: 'person', name: bindings?.incoming?.socket.remoteAddress ?? 'me' },
      }),
    });
    const listener = opened.use(await openListener({ ...net, host: '127.0.0.1', port: 0 }));
    opened.defer(() => api.close());
    listener.mount('/', api.app);
    await orchestrator.start();
    const scene = new LoadScene(opened.move(), { orchestrator, tracker, runner, url: listener.address.url });
    await scene.wait(options.runs);
    await until(() => runner.live.size === options.runs, 'not all runs started');
    return scene;
  }

  private constructor(
    opened: AsyncDisposableStack,
    parts: {
      readonly orchestrator: Orchestrator;
      readonly tracker: MemoryTracker;
      readonly runner: StreamingRunner;
      readonly url: string;
    },
  ) {
    this.#opened = opened;
    this.#tracker = parts.tracker;
    this.#runner = parts.runner;
    this.url = parts.url;
    this.orchestrator = parts.orchestrator;
  }

  /** Puts so many more issues into the queue and waits until the orchestrator has seen them. */
  async wait(count: number): Promise<void> {
    const ids = Array.from({ length: count }, (_, at) => `${this.#issues + at + 1}`);
    this.#issues += count;
    for (const id of ids)
      this.#tracker.put(issue({ id, identifier: `BAT-${id}`, state: 'Todo', createdAt: Number(id) }));
    this.orchestrator.refresh();
    const last = ids.at(-1);
    await until(() => {
      const { skipped, running } = this.orchestrator.read();
      return [...skipped, ...running].some((entry) => entry.issue.id === last);
    }, 'the queue was not seen');
  }

  /** Runs that go on now, by their names of the stream; the youngest last. */
  runs(): readonly string[] {
    return [...this.#runner.live].map(({ request }) => `load/${request.runId}`);
  }

  /** How many events were told so far. */
  get told(): number {
    return this.#runner.told;
  }

  /** What each event has with it from now on, in characters. */
  setPayload(chars: number): void {
    this.#runner.payload = chars === 0 ? null : 'x'.repeat(chars);
  }

  setTalking(isTalking: boolean): void {
    this.#runner.isTalking = isTalking;
  }

  /** Ends the run that goes on for longest; gives how long it took from there until the next one is begun. */
  async decide(): Promise<Decision> {
    const [oldest] = this.#runner.live;
    if (oldest === undefined) throw new Error('no run is there to end');
    await this.#tracker.changes.moveIssue(oldest.request.issue.id, 'Done', { kind: 'orchestrator' });
    const begun = this.#runner.nextStart();
    const ended = momentNow();
    oldest.end();
    const { at, busyMs } = await begun;
    return { tookMs: at - ended.at, busyMs: busyMs - ended.busyMs };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}

/** From the end of a run to the start of the next. */
export interface Decision {
  readonly tookMs: number;
  /** So much of it this thread worked, on the decision and on everything that came before it; what others took is not in it. */
  readonly busyMs: number;
}

interface Moment {
  readonly at: number;
  readonly busyMs: number;
}

function momentNow(): Moment {
  const { user, system } = process.threadCpuUsage();
  return { at: performance.now(), busyMs: (user + system) / 1_000 };
}

/** Bytes in use after everything that nobody needs was collected. */
export async function usedHeap(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let time = 0; time < 3; time += 1) {
    collect();
    await sleep(systemClock, 20);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(what);
    await sleep(systemClock, 20);
  }
}

class StreamingRunner implements Runner, AsyncDisposable {
  readonly live = new Set<StreamingRun>();
  told = 0;
  isTalking = true;
  payload: string | null = null;
  readonly #eventsASecond: number;
  #starts: ((moment: Moment) => void)[] = [];
  #timer: Timer;
  #lastAt = systemClock.monotonic();
  /** Who tells next, in turn. */
  #due = 0;
  #turn = 0;

  constructor(eventsASecond: number) {
    this.#eventsASecond = eventsASecond;
    this.#timer = systemClock.schedule(talkEveryMs, () => this.#talk());
  }

  nextStart(): Promise<Moment> {
    return new Promise((resolve) => this.#starts.push(resolve));
  }

  start(request: RunRequest): ReturnType<Runner['start']> {
    const moment = momentNow();
    for (const tell of this.#starts.splice(0)) tell(moment);
    const { promise, resolve } = Promise.withResolvers<RunOutcome>();
    const run: StreamingRun = {
      request,
      told: 0,
      end: () => {
        this.live.delete(run);
        resolve({ end: 'succeeded', turns: 1 });
      },
    };
    const { report } = request;
    report({ kind: 'workspace', path: `/workspaces/${request.issue.identifier}` });
    report({ kind: 'process', process: { pid: 1_000_000, startTime: null } });
    report({ kind: 'session', threadId: `thread-${request.runId}` });
    report({ kind: 'stage', stage: 'streaming_turn' });
    report({ kind: 'turn', turn: 1 });
    this.live.add(run);
    return { outcome: promise, steer: async () => 'queued', stop: () => run.end() };
  }

  /** As many as are due by now; after a pause not more than a second's worth. */
  #talk(): void {
    const now = systemClock.monotonic();
    const perMs = (this.#eventsASecond * this.live.size) / 1_000;
    this.#due = Math.min(this.#due + (now - this.#lastAt) * perMs, perMs * 1_000);
    this.#lastAt = now;
    const runs = [...this.live];
    for (; this.#due >= 1 && runs.length > 0; this.#due -= 1) {
      this.#turn = (this.#turn + 1) % runs.length;
      const run = runs[this.#turn];
      if (run !== undefined && this.isTalking) this.#tell(run);
    }
    this.#timer = systemClock.schedule(talkEveryMs, () => this.#talk());
  }

  #tell(run: StreamingRun): void {
    this.told += 1;
    run.told += 1;
    const { told } = run;
    // Every tenth says what was used so far.
    const usage = told % 10 === 0 ? { inputTokens: told * 9, outputTokens: told, totalTokens: told * 10 } : undefined;
    const event: AgentEvent = {
      name: 'notification',
      at: systemClock.now(),
      pid: 1_000_000,
      summary: `event ${told}: ${line}`,
      payload: { method: 'item/commandExecution/outputDelta', delta: this.payload ?? line },
      ...(usage === undefined ? {} : { usage }),
    };
    run.request.report({ kind: 'event', event });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer.cancel();
  }
}

interface Parts {
  readonly folder: string;
  readonly store: Store;
  readonly project: string;
  readonly runEvents: RunEvents;
}

function orchestratorOf(
  parts: Parts & { readonly runs: number; readonly tracker: MemoryTracker; readonly runner: Runner },
): Orchestrator {
  const { store, project, runs, tracker, runner, runEvents, folder } = parts;
  const workflow = {
    path: '/w/WORKFLOW.md',
    revision: '1',
    renderPrompt: () => '',
    promptOf: () => ({ version: 'v1', source: 'test' }),
    renderBranch: () => '',
    settings: settings({ agent: { maxConcurrentAgents: runs }, limits: { tokensPerDay: 0 } }),
  };
  return new Orchestrator({
    clock: systemClock,
    chance: systemChance,
    logger: silent,
    store,
    project,
    runner,
    owner: 'load',
    host: 'here',
    isShared: false,
    pool: null,
    trial: null,
    source: { read: () => ({ workflow, problem: null }) },
    trackerFor: () => tracker,
    workspacesFor: () => fakeWorkspaces().as,
    files: noFiles,
    pullsFor: () => null,
    runChecks: async () => {},
    refreshRequests: async () => {},
    readHeadroom: async () => ({ disk: [{ folder: '/nowhere', freeMb: 1_000_000 }], memoryMb: 1_000_000 }),
    touchedAt: () => null,
    onHealth: () => {},
    onRunEvent: (runId, seq, event) => runEvents.publish(runId, seq, event),
    transcripts: transcriptFiles(path.join(folder, 'transcripts')),
    processes: {
      endLeftovers: async () => ({ ended: 0, left: [] }),
      endRun: async () => ({ ended: 1, left: 0 }),
      endAtOnce: async () => {},
      isAlive: () => true,
    },
  });
}

function projectOf({
  orchestrator,
  store,
  project,
  runEvents,
  folder,
}: Parts & { readonly orchestrator: Orchestrator }): ApiProject {
  const nothing = (): never => {
    throw new Error('nobody asks for this here');
  };
  return {
    name: 'load',
    id: project,
    tables: store,
    transcripts: transcriptFiles(path.join(folder, 'transcripts')),
    read: () => orchestrator.read(),
    watch: (watcher) => orchestrator.onChange(watcher),
    watchRuns: (watcher) => runEvents.watch(watcher),
    lastSeqOf: (runId) => orchestrator.lastSeqOf(runId),
    watchIssues: () => () => {},
    describe: nothing,
    pipeline: nothing,
    learner: nothing,
    prompts: () => [],
    movesFrom: nothing,
    explain: nothing,
    poll: nothing,
    submit: nothing,
    resumeCommand: nothing,
    diff: nothing,
    pulls: { review: nothing, facts: nothing, diff: nothing },
    configuration: nothing,
    health: nothing,
    requests: nothing,
    prunable: nothing,
    salvage: nothing,
    board: nothing,
    workspaces: nothing,
    storeChanged: nothing,
    owner: null,
    dashboardUrl: null,
    polling: nothing,
  };
}

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, child: () => silent };
