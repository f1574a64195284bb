import type { Settings } from '../../../src/core/settings.ts';
import { type Draw, drawFrom } from '../draw.ts';

/** A seed with intakes, and perhaps a scanner. Shares are of the turns of their agents; rates are per simulated minute. */
export interface TasksPlan {
  readonly intake: TaskRolePlan & { readonly perMinute: number };
  /** Null: no scanner, and a tracker that is not on this machine. */
  readonly scanner: ScannerPlan | null;
  /** How often a person decides about a task. */
  readonly decisionsPerMinute: number;
  /** The agent ends without an answer. */
  readonly silent: number;
  /** It answers again and again, each time with something else. */
  readonly repeats: number;
  /** It proposes more than it may. */
  readonly greedy: number;
  /** Its process ends right after its answer. */
  readonly crashes: number;
  /** A UTC day ends during the faults. */
  readonly isNight: boolean;
  /** What the runs of each of these roles may cost on a day; 0: no limit, and no run has a price. */
  readonly usdPerDay: number;
}

export interface TaskRolePlan {
  readonly maxIssues: number;
  /** 0: no limit. */
  readonly runsPerDay: number;
  readonly timeoutMs: number;
}

export interface ScannerPlan extends TaskRolePlan {
  readonly maxBacklog: number;
  readonly cooldownMs: number;
  /** How often the job looks. */
  readonly everyMs: number;
  /** How often a person asks for a scan. */
  readonly asksPerMinute: number;
  /** `board.auto_promote`. */
  readonly promotes: boolean;
  /** With few issues there is time for a scan. */
  readonly issues: number;
}

/** The share of seeds with tasks, and of those with a scanner. */
const share = 0.3;
const scannerShare = 0.6;

/** Null: the seed has no tasks. Its own stream, so that the other draws of a seed stay as they were. */
export function drawTasks(seed: number): TasksPlan | null {
  const draw = drawFrom(seed, 'tasks plan');
  if (!draw.chance(share)) return null;
  const rate = (most: number): number => (draw.chance(0.4) ? 0 : (draw.between(1, 100) / 100) * most);
  return {
    intake: { perMinute: rate(1), ...drawRole(draw, [0, 0, 1, 3]) },
    scanner: draw.chance(scannerShare) ? drawScanner(draw) : null,
    decisionsPerMinute: draw.pick([0.3, 1, 3]),
    silent: rate(0.4),
    repeats: rate(0.6),
    greedy: rate(0.5),
    crashes: rate(0.3),
    isNight: draw.chance(0.3),
    usdPerDay: drawFrom(seed, 'tasks money').pick([0, 0, 0.002, 0.02]),
  };
}

function drawRole(draw: Draw, runsPerDay: readonly number[]): TaskRolePlan {
  return {
    maxIssues: draw.between(1, 4),
    runsPerDay: draw.pick(runsPerDay),
    timeoutMs: draw.pick([60_000, 300_000, 900_000]),
  };
}

function drawScanner(draw: Draw): ScannerPlan {
  return {
    ...drawRole(draw, [1, 2, 5]),
    maxBacklog: draw.pick([2, 5, 30]),
    cooldownMs: draw.pick([1_000, 20_000, 120_000]),
    everyMs: draw.pick([5_000, 20_000, 60_000]),
    asksPerMinute: draw.pick([0, 0, 0.2]),
    promotes: draw.chance(0.5),
    issues: draw.pick([1, 2, 4, 10]),
  };
}

export function withTaskRoles(settings: Settings, { intake, scanner, isNight, usdPerDay }: TasksPlan): Settings {
  const { polling, tracker, board, limits } = settings;
  const budget = ({ maxIssues, runsPerDay, timeoutMs }: TaskRolePlan) => ({
    maxIssues,
    runsPerDay,
    timeoutMs,
    usdPerDay,
  });
  const ofScanner =
    scanner === null
      ? {}
      : {
          polling: { ...polling, jobIntervalsMs: { ...polling.jobIntervalsMs, scanner: scanner.everyMs } },
          scanner: {
            ...{ ...settings.scanner, ...budget(scanner), enabled: true },
            ...{ maxBacklog: scanner.maxBacklog, cooldownMs: scanner.cooldownMs },
          },
          board: { ...board, autoPromote: scanner.promotes },
          tracker: { ...tracker, states: { ...tracker.states, todo: 'Todo' } },
        };
  return {
    ...settings,
    ...ofScanner,
    intake: { ...settings.intake, ...budget(intake) },
    // At midnight the daemons disagree about the day; the rule about its limit knows one clock.
    limits: isNight ? { ...limits, tokensPerDay: 0 } : limits,
  };
}
