import type { Settings } from '../../../src/core/settings.ts';
import { drawFrom } from '../draw.ts';

/** A seed with a planner. Shares are of its turns, except `labelled`, which is of the issues. */
export interface PlannerPlan {
  readonly labelled: number;
  readonly maxChildren: number;
  readonly maxDepth: number;
  /** 0: no limit. */
  readonly runsPerDay: number;
  /** It says nothing. */
  readonly idle: number;
  /** It says that the issue is small enough. */
  readonly small: number;
  /** Its plan breaks a rule: too many, too few, or in a circle. */
  readonly bad: number;
  /** It wants its parts to be split again. */
  readonly greedy: number;
  /** It says it again and again. */
  readonly repeats: number;
  /** Its process ends right after it said so. */
  readonly crashes: number;
}

/** The share of the seeds without review and phases that have a planner. */
const share = 0.5;

/** Null: the seed has no planner. Its own stream, so that the other draws of a seed stay as they were. */
export function drawPlanner(seed: number): PlannerPlan | null {
  const draw = drawFrom(seed, 'planner plan');
  if (!draw.chance(share)) return null;
  const rate = (most: number): number => (draw.chance(0.4) ? 0 : (draw.between(1, 100) / 100) * most);
  return {
    labelled: draw.pick([0.2, 0.5, 1]),
    maxChildren: draw.between(2, 4),
    maxDepth: draw.pick([1, 1, 2]),
    runsPerDay: draw.pick([0, 0, 5]),
    idle: rate(0.3),
    small: rate(0.3),
    bad: rate(0.4),
    greedy: rate(1),
    repeats: rate(0.5),
    crashes: rate(0.3),
  };
}

/** The state of an issue that waits for its parts. */
export const blockedState = 'Blocked';

export function withPlanner(settings: Settings, { maxChildren, maxDepth, runsPerDay }: PlannerPlan): Settings {
  const { tracker, planner } = settings;
  const states = { ...tracker.states, todo: 'Todo', blocked: blockedState, review: 'Review' };
  return {
    ...settings,
    tracker: { ...tracker, states },
    planner: { ...planner, enabled: true, maxChildren, maxDepth, runsPerDay },
  };
}
