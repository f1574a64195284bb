import type {
  AccountSettings,
  AgentSettings,
  LimitSettings,
  PollingSettings,
  Settings,
} from '../../src/core/settings.ts';
import { settings } from '../fake/settings.ts';
import type { Tempers } from './agent-script.ts';
import { type Draw, drawFrom } from './draw.ts';
import { drawPipeline, type PipelinePlan, withPipeline } from './pipeline/pipeline-plan.ts';
import { drawPlanner, type PlannerPlan, withPlanner } from './planner/planner-plan.ts';
import { drawAutoMerge, drawReview, type ReviewPlan, withReview } from './review/review-plan.ts';
import { drawTasks, type TasksPlan, withTaskRoles } from './tasks/task-plan.ts';

/** The plan of one seed, drawn once before the start. Rates are per simulated minute. */
export interface Plan {
  readonly seed: number;
  readonly stormMs: number;
  readonly issues: number;
  readonly settings: Settings;
  /** How many daemons work on the store at once, on one machine or each on its own. */
  readonly daemons: 1 | 2;
  readonly machines: 1 | 2;
  /** A database that several daemons may share; otherwise a file. */
  readonly isShared: boolean;
  /** Whether Baton itself moves an issue when it starts it, as on its own board. */
  readonly startMove: boolean;
  readonly tracker: { readonly slowestMs: number; readonly errors: number; readonly hangs: number };
  readonly store: {
    readonly slow: number;
    readonly fullPerMinute: number;
    readonly lostPerMinute: number;
    /** The share of writes that are carried out but not answered. */
    readonly answersLost: number;
  };
  readonly agents: {
    readonly hostile: number;
    readonly survives: number;
    /** The share of turns that ask people something, and of those that report a quota that is nearly used up. */
    readonly asks: number;
    readonly nearlyOut: number;
    /** The kinds of hostile agents; null: all kinds. */
    readonly tempers: Tempers | null;
  };
  readonly workspaces: { readonly fails: number };
  readonly people: {
    readonly changesPerMinute: number;
    readonly commandsPerMinute: number;
    /** How often a person takes an issue over, and sends a message to a running agent. */
    readonly takeoversPerMinute: number;
    readonly steersPerMinute: number;
    /** The share of questions that are answered at some point. */
    readonly answers: number;
  };
  readonly incarnations: {
    readonly killed: number;
    readonly longestCalls: number;
    readonly stoppedPerMinute: number;
    readonly frozenPerMinute: number;
  };
  readonly file: { readonly badPerMinute: number; readonly changedPerMinute: number };
  readonly wall: { readonly jumpsPerMinute: number };
  readonly trackerStormsPerMinute: number;
  /** Null: `agent.after_success: continue`, without a repository. */
  readonly review: ReviewPlan | null;
  /** Null: without phases. */
  readonly pipeline: PipelinePlan | null;
  /** Null: without a planner. */
  readonly planner: PlannerPlan | null;
  /** Null: neither intakes nor scans. */
  readonly tasks: TasksPlan | null;
}

const labels = ['baton'];

export function drawPlan(seed: number, changes: Partial<Plan> = {}): Plan {
  const draw = drawFrom(seed, 'plan');
  const persons = drawFrom(seed, 'persons');
  /** Most faults are off in most seeds, because a defect shows best when little else happens. */
  const rate = (most: number, of: Draw = draw): number => (of.chance(0.5) ? 0 : (of.between(1, 100) / 100) * most);
  const daemons = draw.chance(0.35) ? 2 : 1;
  const machines = daemons === 2 && draw.chance(0.5) ? 2 : 1;
  const isShared = daemons === 2 || draw.chance(0.2);
  const tasks = drawTasks(seed);
  const plan: Plan = {
    seed,
    stormMs: 12 * 60_000,
    issues: (changes.tasks === undefined ? tasks : changes.tasks)?.scanner?.issues ?? 10,
    settings: withPersons(
      persons,
      drawSettings(draw, { retention: drawFrom(seed, 'retention'), pace: drawFrom(seed, 'pace') }),
    ),
    daemons,
    machines,
    isShared,
    startMove: draw.chance(0.5),
    tracker: { slowestMs: draw.pick([0, 200, 1_000, 5_000, 15_000]), errors: rate(0.2), hangs: rate(0.02) },
    store: {
      slow: rate(0.1),
      fullPerMinute: rate(0.15),
      lostPerMinute: isShared ? rate(0.15) : 0,
      answersLost: isShared ? rate(0.02) : 0,
    },
    // An agent that cannot be ended, on a machine that no other daemon reaches, is outside Baton's promise.
    agents: {
      hostile: draw.pick([0, 0.2, 0.5, 0.9]),
      survives: machines === 2 ? 0 : rate(0.06),
      asks: rate(0.3, persons),
      nearlyOut: rate(0.05, persons),
      tempers: null,
    },
    workspaces: { fails: rate(0.15) },
    people: {
      changesPerMinute: rate(3),
      commandsPerMinute: rate(1),
      takeoversPerMinute: rate(0.5, persons),
      steersPerMinute: rate(0.5, persons),
      answers: persons.pick([0.5, 0.9, 1]),
    },
    incarnations: {
      killed: draw.pick([0, 0.5, 1, 1]),
      longestCalls: draw.pick([60, 400, 2_000]),
      stoppedPerMinute: rate(0.1),
      frozenPerMinute: rate(0.15),
    },
    file: { badPerMinute: rate(0.15), changedPerMinute: rate(0.3) },
    wall: { jumpsPerMinute: rate(0.2) },
    trackerStormsPerMinute: rate(0.2),
    review: drawAutoMerge(seed, drawReview(seed)),
    pipeline: drawPipeline(seed),
    // Only where nothing else changes what an issue goes through.
    planner: isPlain(seed, changes) ? drawPlanner(seed) : null,
    tasks,
    ...changes,
  };
  const { review, pipeline, planner } = plan;
  const reviewed =
    review === null ? plan.settings : withReview(plan.settings, review, drawFrom(seed, 'review settings'));
  const phased = pipeline === null ? reviewed : withPipeline(reviewed, pipeline);
  const planned = planner === null ? phased : withPlanner(phased, planner);
  return { ...plan, settings: plan.tasks === null ? planned : withTaskRoles(planned, plan.tasks) };
}

function isPlain(seed: number, { review, pipeline }: Partial<Plan>): boolean {
  if (review !== undefined || pipeline !== undefined) return false;
  return drawReview(seed) === null && drawPipeline(seed) === null;
}

function drawSettings(draw: Draw, { retention, pace }: { readonly retention: Draw; readonly pace: Draw }): Settings {
  const intervalMs = draw.pick([5_000, 15_000, 30_000]);
  const drawn = settings({
    polling: { intervalMs, mode: pace.pick(['fixed', 'fixed', 'adaptive']), ...quickPace(intervalMs) },
    tracker: { requiredLabels: draw.chance(0.3) ? labels : [] },
    agent: {
      maxConcurrentAgents: draw.between(1, 5),
      maxConcurrentAgentsByState: draw.chance(0.3) ? { 'in progress': draw.between(1, 3) } : {},
      maxTurns: draw.between(1, 4),
      maxRetryBackoffMs: draw.pick([20_000, 60_000, 300_000]),
      maxRetries: draw.pick([0, 2, 3, 10]),
      maxStaleRuns: draw.pick([0, 2, 3]),
      turnTimeoutMs: draw.pick([60_000, 600_000]),
      stallTimeoutMs: draw.pick([45_000, 120_000, 300_000]),
    },
    limits: draw.chance(0.3) ? drawLimits(draw) : {},
    workspace: { retentionMs: retention.pick([0, 0, 20_000, 300_000]) },
  });
  return { ...drawn, store: { ...drawn.store, leaseMs: draw.pick([15_000, 30_000]) } };
}

/** People and accounts are drawn separately. */
function withPersons(draw: Draw, drawn: Settings): Settings {
  const { backend } = drawn.agent;
  const accounts = drawn.agent.accounts.filter((account) => account.backend === backend);
  const second: AccountSettings = { name: 'second', backend, env: {}, home: null };
  const agent: AgentSettings = {
    ...drawn.agent,
    accounts: draw.chance(0.3) ? [...accounts, second] : accounts,
    approvals: draw.pick(['ask', 'ask', 'ask', 'deny']),
    askTimeoutMs: draw.pick([15_000, 60_000, 300_000]),
    maxIdleTurns: draw.pick([0, 2, 3]),
    contextRecovery: {
      reducedBudgetTokens: draw.pick([null, 50_000]),
      compact: draw.chance(0.7),
      freshStart: draw.chance(0.7),
      largerModel: draw.pick([null, 'larger']),
    },
  };
  return { ...drawn, agent };
}

/** Slow enough to matter, fast enough that nothing waits forever: after a failure the tracker is not asked for at most the longest interval. */
function quickPace(intervalMs: number): Partial<PollingSettings> {
  return {
    activeIntervalMs: intervalMs,
    idleIntervalMs: Math.min(2 * intervalMs, slowestPaceMs),
    dormantIntervalMs: slowestPaceMs,
    idleAfterMs: 60_000,
    dormantAfterMs: 180_000,
  };
}

const slowestPaceMs = 30_000;

/** Some are small enough to be reached. */
function drawLimits(draw: Draw): Partial<LimitSettings> {
  const some = <T>(limit: T): T | undefined => (draw.chance(0.4) ? limit : undefined);
  const limits = {
    runsPerIssue: some(draw.between(1, 6)),
    tokensPerIssue: some(draw.between(2_000, 20_000)),
    runWallTimeMs: some(draw.between(60_000, 300_000)),
    issueWallTimeMs: some(draw.between(120_000, 900_000)),
    tokensPerDay: some(draw.between(20_000, 100_000)),
  };
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined));
}
