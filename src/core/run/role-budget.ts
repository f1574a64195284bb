import { nextUtcMidnight, utcDay } from '../cadence/utc-day.ts';
import type { SkipReason } from '../dispatch/eligibility.ts';
import type { Settings } from '../settings.ts';
import { countText, usdText } from '../text/amount-text.ts';
import { type Role, roles } from './role.ts';

/**
 * The budget of a role: how many runs it may have in a UTC day, and what they may cost. As for the limits of the day
 * (`limits.ts`), a day counts the runs that ended on it and all runs in progress; 0 switches a limit off; a limit is
 * reached at its exact value. Unlike them it fails closed: `limits.usd_per_day` counts a run without a known price as
 * free, a role with `usd_per_day` has no further run that day.
 */
export interface RoleBudget {
  readonly runsPerDay: number;
  readonly usdPerDay: number;
}

/** One run of a role, by the store or by its own reports. */
export interface RoleRun {
  readonly runId: string;
  readonly role: Role;
  readonly microUsd: number;
  /** It used tokens, or it ended well. One that failed before that used nothing. */
  readonly hasWorked: boolean;
  /** Null: it is in progress. */
  readonly endedAt: number | null;
}

export interface RoleSpent {
  readonly runs: number;
  readonly microUsd: number;
  /** Runs that have ended and whose cost is unknown. */
  readonly unpriced: number;
}

/** A role that is switched off has no runs, and needs no budget. */
type BudgetSection = Partial<RoleBudget> & { readonly enabled?: boolean };

/** The budget in the section of the role; null: it has none, or no limit in it. */
export function budgetOf(role: Role, settings: Settings): RoleBudget | null {
  // A section need not exist, and need not have these keys.
  const section = (settings as unknown as Partial<Record<string, BudgetSection>>)[role];
  const { enabled = true, runsPerDay = 0, usdPerDay = 0 } = section ?? {};
  return enabled && (runsPerDay > 0 || usdPerDay > 0) ? { runsPerDay, usdPerDay } : null;
}

export function budgetedRoles(settings: Settings): readonly Role[] {
  return roles.filter((role) => budgetOf(role, settings) !== null);
}

/** The beginning of the UTC day. */
export function dayStart(at: number): number {
  return nextUtcMidnight(at) - 24 * 3_600_000;
}

/** What the runs of a role have used on the day of `at`. Each run is named once. */
export function roleSpent(role: Role, runs: Iterable<RoleRun>, at: number): RoleSpent {
  let spent: RoleSpent = { runs: 0, microUsd: 0, unpriced: 0 };
  for (const run of runs) {
    if (run.role !== role || (run.endedAt !== null && utcDay(run.endedAt) !== utcDay(at))) continue;
    spent = {
      runs: spent.runs + 1,
      microUsd: spent.microUsd + run.microUsd,
      unpriced: spent.unpriced + (run.endedAt !== null && run.hasWorked && run.microUsd === 0 ? 1 : 0),
    };
  }
  return spent;
}

/** Why no further run of the role starts today; null: one may. */
export function whyRoleBudget(role: Role, spent: RoleSpent, budget: RoleBudget | null): SkipReason | null {
  if (budget === null) return null;
  const { runsPerDay, usdPerDay } = budget;
  const refuse = (what: string): SkipReason => ({
    code: 'role_budget',
    text: `the budget of the role "${role}" is used up for today: ${what}; it starts after 00:00 UTC`,
  });
  if (runsPerDay > 0 && spent.runs >= runsPerDay)
    return refuse(`${countText(spent.runs)} of ${countText(runsPerDay)} runs (${role}.runs_per_day)`);
  if (isMoneyUsed(spent, budget))
    return refuse(`${usdText(spent.microUsd / 1_000_000)} of ${usdText(usdPerDay)} (${role}.usd_per_day)`);
  if (usdPerDay > 0 && spent.unpriced > 0)
    return refuse(
      `${countText(spent.unpriced)} of its runs ended without a known price, and ${role}.usd_per_day is set; agent.prices can give the price`,
    );
  return null;
}

/** What is used of a budget, as `1 of 3 runs (setup.runs_per_day), $0.40 of $2.00 (setup.usd_per_day)`; empty without a limit. */
export function usedOfBudget(
  role: string,
  { runsPerDay, usdPerDay }: RoleBudget,
  { runs, microUsd }: Pick<RoleSpent, 'runs' | 'microUsd'>,
): string {
  const used = [
    ...(runsPerDay > 0 ? [`${countText(runs)} of ${countText(runsPerDay)} runs (${role}.runs_per_day)`] : []),
    ...(usdPerDay > 0 ? [`${usdText(microUsd / 1_000_000)} of ${usdText(usdPerDay)} (${role}.usd_per_day)`] : []),
  ];
  return used.join(', ');
}

/** Whether the runs of the role in progress must end: the number of runs and an unknown price only stop new ones. */
export function isMoneyUsed({ microUsd }: RoleSpent, { usdPerDay }: RoleBudget): boolean {
  return usdPerDay > 0 && microUsd / 1_000_000 >= usdPerDay;
}

/** The budget of a role and what is used of it, for people. */
export interface RoleBudgetView extends RoleBudget, RoleSpent {
  readonly role: Role;
  readonly isUsedUp: boolean;
}

export function roleBudgets(settings: Settings, spentBy: (role: Role) => RoleSpent): readonly RoleBudgetView[] {
  return budgetedRoles(settings).flatMap((role) => {
    const budget = budgetOf(role, settings);
    const spent = spentBy(role);
    return budget === null
      ? []
      : [{ role, ...budget, ...spent, isUsedUp: whyRoleBudget(role, spent, budget) !== null }];
  });
}
