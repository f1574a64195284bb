import { stringify } from 'yaml';
import type { Agent } from '../../src/agent/agent.ts';
import type { PaceMode } from '../../src/core/cadence/poll-pace.ts';
import type { Settings } from '../../src/core/settings.ts';
import { workflowContext } from '../../src/daemon/adapters.ts';
import { Remote } from '../../src/daemon/remote.ts';
import type { Surroundings } from '../../src/daemon/surroundings.ts';
import { taskReads, trackerMaker } from '../../src/daemon/trackers.ts';
import { createLimiterRegistry } from '../../src/http/limiter-registry.ts';
import { Orchestrator } from '../../src/orchestrator/orchestrator.ts';
import { createRunner } from '../../src/runner/run-issue.ts';
import type { Store } from '../../src/store/store.ts';
import { openToolSet } from '../../src/tools/registry.ts';
import type { Tracker } from '../../src/tracker/tracker.ts';
import { type LoadedWorkflow, parseWorkflow } from '../../src/workflow/load-workflow.ts';
import { createFakeLinearCore, type FakeLinearCore } from '../fake/linear/fake-linear.ts';
import { type MemoryLogger, memoryLogger } from '../fake/memory-logger.ts';
import { noFiles } from '../fake/no-files.ts';
import { seededChance } from '../fake/seeded-chance.ts';
import { MemoryStore } from '../simulation/memory-store.ts';
import { memoryWorkspaces } from './memory-workspaces.ts';
import { SleepyClock } from './sleepy-clock.ts';
import { createWire, type Sent, type Wire } from './wire.ts';
import { type Work, workingAgent } from './working-agent.ts';

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const wholeDay = 24 * hour;

/** A Thursday, midnight in UTC. */
export const midnight = Date.UTC(2026, 0, 1);

type Section = Readonly<Record<string, unknown>>;

/** The settings of the workflow file besides the tracker, in the syntax of the file. */
export interface FileSections {
  readonly polling?: Section;
  readonly agent?: Section;
  readonly tracker?: Section;
}

export interface DayOptions {
  /** The sections, or the whole text. */
  readonly file?: FileSections | string;
  /** Wall time at the beginning. */
  readonly startAt?: number;
  /** The work of the agent on an issue, by its identifier. */
  readonly work?: (identifier: string) => Work;
  /** Wraps the real adapter for the orchestrator. */
  readonly through?: (tracker: Tracker) => Tracker;
  /** The day of a previous daemon, whose store and Linear this one continues with. */
  readonly after?: Day;
}

/** A run that started. */
export interface Start {
  readonly identifier: string;
  readonly at: number;
}

/** The days of a daemon: everything is real from the orchestrator to the HTTP client, with a fake Linear behind it. */
export interface Day {
  readonly clock: SleepyClock;
  readonly linear: FakeLinearCore;
  readonly wire: Wire;
  readonly memory: MemoryStore;
  readonly store: Store;
  readonly logger: MemoryLogger;
  readonly orchestrator: Orchestrator;
  readonly starts: readonly Start[];
  readonly ends: readonly Start[];
  /** Touches the file `.baton/last-activity`, as a person's script does. */
  touch(): void;
  /** Replaces the workflow file, as a person who saves it: it is read, and the orchestrator gets the change. */
  save(file: FileSections): void;
  /** How long each mode lasted in milliseconds, by the health records of the ticks. */
  modes(): Readonly<Partial<Record<PaceMode, number>>>;
  /** The requests that were sent since then, by the wall clock. */
  sentSince(from: number): readonly Sent[];
  /** How many requests the store has counted, by cause. */
  counted(): Promise<Readonly<Record<string, number>>>;
  /** The number of requests sent. Throws if the wire, the log of the fake and the store disagree. */
  requests(): Promise<number>;
}

const surroundings = {
  env: { LINEAR_API_KEY: 'lin_api_fake' },
  homeDir: '/home/nobody',
  tmpDir: '/tmp',
  timeZone: 'UTC',
  version: '0',
} as const;

/** A run of ten minutes that moves its issue to Done. */
const usualWork: Work = { turnMs: 10 * minute, movesTo: 'Done' };

/** Composes and starts a daemon; nothing is due yet. */
export async function beginDay(options: DayOptions = {}): Promise<Day> {
  const { after } = options;
  const clock = after?.clock ?? new SleepyClock(options.startAt ?? midnight);
  const linear = after?.linear ?? createFakeLinearCore({ now: () => clock.now() });
  const memory = after?.memory ?? (await MemoryStore.open(clock, false));
  const wire = after?.wire ?? createWire(linear, () => clock.now());
  const { store } = memory;
  const logger = memoryLogger();
  const project = (await store.projects.ensure('cadence', clock.now())).id;
  const file = { workflow: readFile(options.file ?? {}) };
  const settingsNow = (): Settings => file.workflow.settings;
  const remote = new Remote({
    clock,
    logger,
    store,
    surroundings,
    transport: wire,
    project,
    limiters: createLimiterRegistry(clock),
    budget: () => settingsNow().polling.budget,
  });
  const lives = (await store.runs.list(project, { limit: 1_000 })).length;
  const chance = seededChance(lives + 1);
  const made = trackerMaker(
    { clock, logger, remote, storage: { clock, chance, store, project, onChange: () => {} } },
    taskReads(store, project),
    {},
  );
  const through = options.through ?? ((tracker: Tracker): Tracker => tracker);
  // The real one compares settings each time, which would take a seventh of the time of a simulated day.
  const known = new Map<Settings, Tracker>();
  const wrapped = new Map<Tracker, Tracker>();
  const trackerFor = (settings: Settings): Tracker => {
    const found = known.get(settings);
    if (found !== undefined) return found;
    const tracker = made(settings);
    const wrap = wrapped.get(tracker) ?? through(tracker);
    wrapped.set(tracker, wrap);
    known.set(settings, wrap);
    return wrap;
  };
  trackerFor(settingsNow());
  await remote.refresh();
  const workspaces = memoryWorkspaces(() => clock.now());
  const work = options.work ?? ((): Work => usualWork);
  const starts: Start[] = [];
  const ends: Start[] = [];
  const agent = watchedAgent(workingAgent(clock, work), () => clock.now(), starts, ends);
  const modes: Partial<Record<PaceMode, number>> = {};
  let modeSince = clock.now();
  const touch = { at: null as number | null };
  const orchestrator = new Orchestrator({
    clock,
    chance,
    logger,
    store,
    project,
    trackerFor,
    source: { read: () => ({ workflow: file.workflow, problem: null }) },
    workspacesFor: () => workspaces,
    runner: createRunner({
      clock,
      chance,
      logger,
      toolHost: null,
      agentFor: () => agent,
      workspacesFor: () => workspaces,
      toolSetFor: (wanted, run) => openToolSet({ ...run, clock, tracker: trackerFor(wanted) }),
    }),
    isShared: false,
    owner: 'this-daemon',
    host: 'here',
    transcripts: { append: async () => {}, remove: async () => {}, list: async () => [] },
    processes: {
      endLeftovers: async () => ({ ended: 0, left: [] }),
      endRun: async () => ({ ended: 0, left: 0 }),
      endAtOnce: async () => {},
      isAlive: () => true,
    },
    readHeadroom: async () => ({ disk: [], memoryMb: null }),
    files: noFiles,
    pullsFor: () => null,
    runChecks: async () => {},
    refreshRequests: () => remote.refresh(),
    touchedAt: () => touch.at,
    pool: null,
    trial: null,
    onHealth: ({ at, polling }) => {
      modes[polling.mode] = (modes[polling.mode] ?? 0) + (at - modeSince);
      modeSince = at;
    },
  });
  await orchestrator.start();
  return {
    clock,
    linear,
    wire,
    memory,
    store,
    logger,
    orchestrator,
    starts,
    ends,
    touch: () => {
      touch.at = clock.now();
    },
    save: (sections) => {
      file.workflow = readFile(sections);
      orchestrator.refresh();
    },
    modes: () => ({ ...modes }),
    sentSince: (from) => wire.sent.filter(({ at }) => at >= from),
    counted: () => countedBy(store, 'cause'),
    requests: async () => {
      const stored = Object.values(await countedBy(store, 'provider')).reduce((sum, count) => sum + count, 0);
      const arrived = wire.sent.filter(({ hasArrived }) => hasArrived).length;
      if (linear.complaints.length > 0) throw new Error(`The fake does not model: ${linear.complaints.join(', ')}`);
      if (stored !== wire.sent.length || arrived !== linear.requests.length) {
        const said = `stored ${stored}, left ${wire.sent.length}, arrived ${arrived}, logged ${linear.requests.length}`;
        throw new Error(`Those who count requests do not agree: ${said}.`);
      }
      return stored;
    },
  };
}

async function countedBy(store: Store, label: 'cause' | 'provider'): Promise<Readonly<Record<string, number>>> {
  const sums: Record<string, number> = {};
  const rows = await store.requestCounts.sum({ bucket: 'day', from: 0, to: Number.MAX_SAFE_INTEGER });
  for (const row of rows) sums[row[label]] = (sums[row[label]] ?? 0) + row.count;
  return sums;
}

/** Reads the file as the daemon does. */
function readFile(file: FileSections | string): LoadedWorkflow {
  const text = typeof file === 'string' ? file : `---\n${stringify(sectionsOf(file))}---\nWork.\n`;
  // A workflow file depends on nothing else of the environment.
  const context = workflowContext(surroundings as unknown as Surroundings, '/state');
  return parseWorkflow(Buffer.from(text), '/w/WORKFLOW.md', context);
}

function sectionsOf({ tracker = {}, ...sections }: FileSections): Section {
  const provider = { api_key: '$LINEAR_API_KEY', project_slug: 'baton' };
  return { tracker: { kind: 'linear', provider, ...tracker }, ...sections };
}

/** Records when sessions start and end. */
function watchedAgent(agent: Agent, now: () => number, starts: Start[], ends: Start[]): Agent {
  return {
    ...agent,
    startSession: async (request) => {
      const identifier = request.env.BATON_ISSUE_IDENTIFIER ?? '';
      starts.push({ identifier, at: now() });
      const session = await agent.startSession(request);
      const stop = async (): Promise<void> => {
        ends.push({ identifier, at: now() });
        await session.stop();
      };
      return { ...session, stop };
    },
  };
}
