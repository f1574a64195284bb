import type { Settings } from '../../../src/core/settings.ts';
import { type Draw, drawFrom } from '../draw.ts';
import { baseBranch } from './simulated-repository.ts';

/** A seed with `agent.after_success: review`. Rates are per simulated minute. */
export interface ReviewPlan {
  /** How many commands `review.checks` has. */
  readonly checks: number;
  /** The share of commits whose check fails or takes too long, and of those on which it cannot run. */
  readonly red: number;
  readonly skipped: number;
  readonly slowestCheckMs: number;
  readonly maxRounds: number;
  /** How often a person decides by command, and acts in the repository by hand. */
  readonly decisionsPerMinute: number;
  readonly handsPerMinute: number;
  /** How often others move the base. */
  readonly basePerMinute: number;
  /** The share of calls that the repository refuses to answer. */
  readonly fails: number;
  /** The share of kills that hit a step of a delivery. */
  readonly killsAtDelivery: number;
  /** The share of agents that do as they are told. */
  readonly tidy: number;
  /** Null: the local host. */
  readonly github: GithubPlan | null;
  /** Null: no judge. */
  readonly judge: JudgePlan | null;
  /** The share of issues with the label of `review.auto_merge`; null: people merge. */
  readonly autoMerge: number | null;
}

/** A seed whose changes are judged. Shares of the turns of judges. */
export interface JudgePlan {
  readonly rejects: number;
  readonly saysNothing: number;
  /** It changes a file of the commit first. */
  readonly spoils: number;
  /** The share of rejections with a finding of an earlier round. */
  readonly repeats: number;
  readonly count: number;
  readonly decides: 'any_reject' | 'majority';
  readonly maxRounds: number;
  readonly withoutVerdict: 'hold' | 'todo';
  readonly extraSlotsPercent: number;
}

/** A seed whose changes are reviewed on GitHub. */
export interface GithubPlan {
  /** How many checks each head gets there. */
  readonly checks: number;
  /** The share of requests whose answer is lost, half of them carried out. */
  readonly lost: number;
  readonly slowestMs: number;
}

/** The share of seeds in review mode. */
const share = 0.5;
/** The share of those with GitHub. */
const githubShare = 0.5;
const judgeShare = 0.4;
const autoMergeShare = 0.4;
/** The label of `review.auto_merge`. */
export const autoMergeLabel = 'auto';

/** Null: the seed is not in review mode. Its own stream, so that the other draws of a seed stay as they were. */
export function drawReview(seed: number): ReviewPlan | null {
  const draw = drawFrom(seed, 'review plan');
  if (!draw.chance(share)) return null;
  const rate = (most: number): number => (draw.chance(0.3) ? 0 : (draw.between(1, 100) / 100) * most);
  return {
    checks: draw.pick([0, 1, 1, 2]),
    red: rate(0.5),
    skipped: rate(0.2),
    slowestCheckMs: draw.pick([1_000, 20_000, 120_000]),
    maxRounds: draw.pick([1, 2, 5]),
    decisionsPerMinute: rate(3),
    handsPerMinute: rate(1.5),
    basePerMinute: rate(1),
    fails: rate(0.1),
    killsAtDelivery: draw.pick([0, 0.7, 0.95]),
    tidy: draw.pick([0.6, 0.9]),
    github: drawGithub(drawFrom(seed, 'github plan')),
    judge: drawJudge(drawFrom(seed, 'judge plan')),
    autoMerge: null,
  };
}

/** The same seed, in which Baton may merge by itself: mostly with checks and a judge, and with people who leave it alone. */
export function drawAutoMerge(seed: number, plan: ReviewPlan | null): ReviewPlan | null {
  const draw = drawFrom(seed, 'auto merge plan');
  if (plan === null || !draw.chance(autoMergeShare)) return plan;
  const autoMerge = draw.pick([0.5, 1]);
  if (draw.chance(0.3)) return { ...plan, autoMerge };
  const judge = plan.judge ?? drawAnyJudge(drawFrom(seed, 'judge of auto merge'));
  const rates = { decisionsPerMinute: plan.decisionsPerMinute / 5, basePerMinute: plan.basePerMinute / 5 };
  return { ...plan, ...rates, autoMerge, judge, checks: Math.max(1, plan.checks), red: plan.red / 2 };
}

function drawJudge(draw: Draw): JudgePlan | null {
  return draw.chance(judgeShare) ? drawAnyJudge(draw) : null;
}

function drawAnyJudge(draw: Draw): JudgePlan {
  return {
    rejects: draw.pick([0.1, 0.5, 0.9]),
    saysNothing: draw.pick([0, 0.1, 0.6]),
    spoils: draw.pick([0, 0.2]),
    repeats: draw.pick([0, 0.3]),
    count: draw.pick([1, 1, 2, 3]),
    decides: draw.pick(['any_reject', 'majority']),
    maxRounds: draw.pick([1, 3]),
    withoutVerdict: draw.pick(['hold', 'todo']),
    extraSlotsPercent: draw.pick([0, 25, 100]),
  };
}

function drawGithub(draw: Draw): GithubPlan | null {
  if (!draw.chance(githubShare)) return null;
  return { checks: draw.pick([0, 1, 2]), lost: draw.pick([0, 0.05, 0.2]), slowestMs: draw.pick([200, 2_000, 10_000]) };
}

export function withReview(
  settings: Settings,
  { checks, maxRounds, slowestCheckMs, github, judge, autoMerge }: ReviewPlan,
  draw: Draw,
): Settings {
  return {
    ...settings,
    ...(judge === null ? {} : { judge: judgeSettings(settings, judge) }),
    agent: { ...settings.agent, afterSuccess: 'review' },
    tracker: {
      ...settings.tracker,
      reviewStates: ['Review'],
      states: { todo: 'Todo', inProgress: 'In Progress', review: 'Review', blocked: null, done: 'Done' },
    },
    workspace: {
      ...settings.workspace,
      repo: { location: '/repository', shown: '/repository', isLocal: true },
      strategy: 'worktree',
      base: baseBranch,
    },
    review: {
      ...settings.review,
      ...(github === null ? {} : { host: 'github', repository: 'acme/app', labels: ['baton'] }),
      mergeMethod: draw.pick(['merge', 'squash', 'rebase']),
      maxRounds,
      autoCommit: draw.chance(0.2),
      ...(autoMerge === null ? {} : { autoMerge: [autoMergeLabel] }),
      checks: Array.from({ length: checks }, (_, nth) => ({
        name: `check-${nth + 1}`,
        run: `check ${nth + 1}`,
        timeoutMs: null,
      })),
      checkTimeoutMs: 2 * slowestCheckMs,
    },
  };
}

function judgeSettings(
  { judge }: Settings,
  { count, decides, maxRounds, withoutVerdict, extraSlotsPercent }: JudgePlan,
): Settings['judge'] {
  return { ...judge, agents: ['default'], count, decides, maxRounds, withoutVerdict, extraSlotsPercent };
}
