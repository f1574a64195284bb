import type { Timer } from '../../src/clock/clock.ts';
import type { Orchestrator } from '../../src/orchestrator/orchestrator.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { AccountNotes } from './account-notes.ts';
import type { BrokenRule, RuleName } from './broken-rule.ts';
import { type Draw, drawFrom } from './draw.ts';
import type { Incarnation } from './incarnation.ts';
import { IssueBook } from './issue-book.ts';
import { MemoryStore } from './memory-store.ts';
import { PipelineWorld } from './pipeline/pipeline-world.ts';
import type { Plan } from './plan.ts';
import { ProcessTable, type SimulatedProcess } from './process-table.ts';
import { QuestionBook } from './question-book.ts';
import { ReviewWorld } from './review/review-world.ts';
import type { Rule } from './rules/rule.ts';
import { RunLedger } from './run-ledger.ts';
import type { Sabotage } from './sabotage.ts';
import { SimulatedFile } from './simulated-file.ts';
import { TaskWorld } from './tasks/task-world.ts';
import { Trace } from './trace.ts';

/** The names are part of the seed: a renamed stream draws other numbers. */
const streams = [
  'lives',
  'tracker',
  'store',
  'agents',
  'workspaces',
  'people',
  'weather',
  'questions',
  'review',
  'judge',
  'pipeline',
  'planner',
  'tasks',
  'auto merge',
  'artifacts',
] as const;
type Stream = (typeof streams)[number];

/** Six minutes before midnight. */
const lateAt = Date.UTC(2026, 0, 1, 23, 54);

/** How long a daemon that was frozen may take to end agents that it no longer owns. */
const graceMs = 10_000;

/** A running daemon: one incarnation and its orchestrator. */
export interface RunningDaemon {
  readonly incarnation: Incarnation;
  readonly orchestrator: Orchestrator;
}

/** The current temporary faults. */
export interface Weather {
  trackerStorm: boolean;
  storeFull: boolean;
  /** When the tracker last did not answer a call at all. */
  trackerHungAt: number;
  /** Daemons that do not reach the store, and whether their calls hang or fail. */
  readonly storeLost: Map<string, 'hangs' | 'fails'>;
}

/**
 * Everything outside a daemon that survives it: time, the true state of the tracker, the store, the processes, the folders, the
 * workflow file. All random choices come from the seed.
 */
export class World {
  readonly plan: Plan;
  readonly clock: SimulatedClock;
  readonly trace: Trace;
  readonly draw: Readonly<Record<Stream, Draw>>;
  readonly book: IssueBook;
  readonly processes: ProcessTable;
  readonly memory: MemoryStore;
  readonly project: string;
  readonly file: SimulatedFile;
  readonly ledger: RunLedger;
  readonly sabotage: Sabotage;
  /** Null: not in review mode. */
  readonly review: ReviewWorld | null;
  /** Null: without phases. */
  readonly pipeline: PipelineWorld | null;
  /** Null: without tasks. */
  readonly tasks: TaskWorld | null;
  /** How often each was changed. */
  readonly workspaces = new Map<string, number>();
  readonly questions = new QuestionBook();
  readonly accounts = new AccountNotes();
  /** Workspaces whose last agent filled its context. */
  readonly overflowed = new Set<string>();
  /** When a call of an incarnation last failed or was not answered: `a3 questions.deliver`. */
  readonly failedCalls = new Map<string, number>();
  readonly weather: Weather = {
    trackerStorm: false,
    storeFull: false,
    trackerHungAt: Number.NEGATIVE_INFINITY,
    storeLost: new Map(),
  };
  /** Every incarnation that has started, by its name. */
  readonly incarnations = new Map<string, RunningDaemon>();
  readonly thawedAt = new Map<string, number>();
  readonly counts = new Map<string, number>();
  /** When a person last sent a command about an issue, and when a release or retry. */
  readonly askedAt = new Map<string, number>();
  readonly freedAt = new Map<string, number>();
  /** When a person last answered a question of an issue, took it over, and handed it back. */
  readonly answeredAt = new Map<string, number>();
  readonly takenOverAt = new Map<string, number>();
  readonly handedBackAt = new Map<string, number>();
  /** When a person last said that an account may be tried again. */
  triedAgainAt = Number.NEGATIVE_INFINITY;
  /** When a person last let an issue continue, so that logins are tried. */
  loginTriedAt = Number.NEGATIVE_INFINITY;
  /** When the quota that a run found used up is back, on the monotonic clock; in the past if unknown. */
  readonly quotaBackAt = new Map<string, number>();
  /** Frozen machines, with the actions to run when they resume. */
  readonly #frozenMachines = new Map<string, (() => void)[]>();
  /** When a person last let work continue after the limit of a day. */
  dayAllowedAt = Number.NEGATIVE_INFINITY;
  readonly #only: RuleName | null;
  rules: readonly Rule[] = [];
  broken: BrokenRule | null = null;
  /** The faults are over: no fault, no person and no hostile agent from now on. */
  isCalm = false;
  /** When something last happened that may delay a healthy daemon. */
  disturbedAt = 0;
  wallJumpedAt = Number.NEGATIVE_INFINITY;
  steps = 0;
  /** Whether anything was written in the last step. */
  storeHasChanged = true;
  #changes = -1;

  private constructor(plan: Plan, clock: SimulatedClock, memory: MemoryStore, project: string, options: WorldOptions) {
    this.plan = plan;
    this.clock = clock;
    this.memory = memory;
    this.project = project;
    this.sabotage = options.sabotage ?? {};
    this.#only = options.only ?? null;
    const now = (): number => clock.monotonic();
    this.trace = new Trace(now, options.print ?? null);
    this.draw = Object.fromEntries(streams.map((name) => [name, drawFrom(plan.seed, name)])) as Record<Stream, Draw>;
    this.review = plan.review === null ? null : new ReviewWorld(plan.review, drawFrom(plan.seed, 'check results'));
    this.pipeline = plan.pipeline === null ? null : new PipelineWorld(plan.pipeline);
    this.tasks = plan.tasks === null ? null : new TaskWorld(plan.tasks);
    this.book = new IssueBook(now, plan.pipeline !== null);
    this.processes = new ProcessTable(now);
    this.file = new SimulatedFile(plan.settings, now);
    this.ledger = new RunLedger(memory, now);
    memory.onCommit = () => this.#askAboutRuns();
  }

  static async open(plan: Plan, options: WorldOptions): Promise<World> {
    const clock = new SimulatedClock({ seed: plan.seed, ...(plan.tasks?.isNight === true ? { startAt: lateAt } : {}) });
    const memory = await MemoryStore.open(clock, plan.isShared);
    const project = (await memory.store.projects.ensure('simulated', clock.now())).id;
    return new World(plan, clock, memory, project, options);
  }

  get now(): number {
    return this.clock.monotonic();
  }

  /** How often something was changed in each checkout of a judge. */
  get judgeTrees(): Map<string, number> {
    return (this.review ?? this.pipeline)?.judgeTrees ?? new Map();
  }

  get running(): RunningDaemon[] {
    return [...this.incarnations.values()].filter(({ incarnation }) => incarnation.isAlive);
  }

  /** A person or a file watcher wakes every running daemon, also one that is still starting. */
  tellDaemons(tell: (orchestrator: Orchestrator) => void): void {
    for (const { incarnation, orchestrator } of this.running) incarnation.deliver(() => tell(orchestrator));
  }

  count(what: string): void {
    this.tally(what);
    this.disturbedAt = this.now;
  }

  /** Counts an event that delays no daemon. */
  tally(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** A rule is broken. The first finding counts; the seed ends there. */
  broke(rule: RuleName, issue: string | null, seen: string): void {
    if (this.broken !== null || (this.#only !== null && this.#only !== rule)) return;
    this.broken = { rule, seed: this.plan.seed, atMs: this.now, issue, seen };
    this.trace.tell('BROKEN', rule, issue, seen);
  }

  /** After every timer and its consequences. True when the seed is over. */
  afterStep(): boolean {
    this.steps += 1;
    this.#askAboutRuns();
    const { changes } = this.memory;
    this.storeHasChanged = changes !== this.#changes;
    this.#changes = changes;
    for (const rule of this.rules) rule.afterStep?.();
    return this.broken !== null;
  }

  /** After every transaction, so that starts and ends are reported in order. */
  #askAboutRuns(): void {
    const { started, ended } = this.ledger.update();
    for (const run of started) this.trace.tell('run starts', run.runId, run.issueId, run.generation, run.attempt);
    for (const run of ended) this.trace.tell('run ends', run.runId, run.issueId, run.outcome, run.errorCode);
    // The end of an older run comes before a new start, that of a new one after it.
    const isNew = new Set(started);
    for (const rule of this.rules) {
      for (const run of ended) if (!isNew.has(run)) rule.runEnded?.(run);
      for (const run of started) {
        rule.runStarted?.(run);
        if (run.outcome !== null) rule.runEnded?.(run);
      }
    }
  }

  /** Does something at random times until the faults are over. */
  nowAndThen(draw: Draw, perMinute: number, act: () => void): void {
    if (perMinute <= 0) return;
    this.clock.schedule(draw.gap(perMinute), () => {
      if (this.isCalm) return;
      act();
      this.nowAndThen(draw, perMinute, act);
    });
  }

  spawn(incarnation: Incarnation, runId: string, issueId: string, survives: boolean): SimulatedProcess {
    const { name, daemon, machine } = incarnation;
    const process = this.processes.spawn({ runId, issueId, incarnation: name, daemon, machine, survives });
    this.trace.tell('spawned', process.pid, issueId, runId, survives ? 'survives' : '');
    process.onExit.add(() => this.trace.tell('exited', process.pid, issueId));
    for (const rule of this.rules) rule.spawned?.(process);
    if (survives) this.later(process, this.draw.agents.between(60_000, 1_200_000), () => this.processes.exit(process));
    return process;
  }

  /** A planned action of a process; it does not happen if the process is gone by then. */
  later(process: SimulatedProcess, delayMs: number, act: () => void): void {
    if (!this.processes.isLive(process)) return;
    const timer: Timer = this.clock.schedule(Math.round(delayMs), () => {
      process.timers.delete(timer);
      const waiting = this.#frozenMachines.get(process.machine);
      if (waiting === undefined) act();
      else waiting.push(() => this.later(process, 0, act));
    });
    process.timers.add(timer);
  }

  /** A machine freezes with everything on it, and resumes later. */
  freezeMachine(machine: string): void {
    if (!this.#frozenMachines.has(machine)) this.#frozenMachines.set(machine, []);
  }

  thawMachine(machine: string): void {
    const waiting = this.#frozenMachines.get(machine) ?? [];
    this.#frozenMachines.delete(machine);
    this.thawedAt.set(machine, this.now);
    for (const act of waiting) act();
  }

  /** Nothing on it acts, or its daemon has not had time to check what changed. */
  isStandingStill(machine: string): boolean {
    return this.#frozenMachines.has(machine) || this.now - (this.thawedAt.get(machine) ?? -graceMs) < graceMs;
  }

  changeWorkspace(path: string): void {
    const changes = this.workspaces.get(path);
    if (changes !== undefined) this.workspaces.set(path, changes + 1);
  }

  /**
   * TERM, then KILL; or KILL at once. Resolves to whether the process is still alive when the
   * caller gives up.
   */
  async endProcess(process: SimulatedProcess, mostMs = 6_000): Promise<boolean> {
    if (!this.processes.isLive(process)) return false;
    if (!process.survives)
      this.later(process, this.draw.agents.logBetween(1, mostMs), () => this.processes.exit(process));
    const { promise, resolve } = Promise.withResolvers<void>();
    process.onExit.add(resolve);
    const patience = this.clock.schedule(7_000, resolve);
    await promise;
    patience.cancel();
    return this.processes.isLive(process);
  }

  /** An agent without a daemon has ended its turn: most exit, some stay. */
  finishOrphan(process: SimulatedProcess, isCrash: boolean): void {
    if (isCrash || this.draw.agents.chance(0.6)) {
      this.processes.exit(process);
      return;
    }
    this.later(process, this.draw.agents.between(60_000, 1_800_000), () => {
      if (this.draw.agents.chance(0.3)) this.moveAsAgent(process, this.draw.agents.pick(['Todo', 'Review']));
      this.processes.exit(process);
    });
  }

  moveAsAgent(process: SimulatedProcess, state: string): void {
    if (this.book.get(process.issueId) === undefined || state === 'Nowhere') return;
    this.book.move(process.issueId, state, { kind: 'run', runId: process.runId });
    this.trace.tell('moved by an orphan', process.issueId, state);
  }
}

export interface WorldOptions {
  /** Only this rule is checked. */
  readonly only?: RuleName | undefined;
  readonly print?: ((line: string) => void) | undefined;
  readonly sabotage?: Sabotage | undefined;
}
