import { usedOfBudget } from '../core/run/role-budget.ts';
import { type TaskKind, taskRoleOfKind } from '../core/task/task.ts';
import { hasNoPrice, noPriceText, usdText } from '../core/text/amount-text.ts';
import type { Vitals } from './schema/now.ts';

const names: Readonly<Record<TaskKind, string>> = {
  intake: 'An intake',
  scan: 'A scan',
  setup: 'A setup',
  learn: 'A run of the learner',
};

/** What a task costs, and what is used today, for a person who is about to ask for it. Null: no daemon knows what is used. */
export function taskPriceText(kind: TaskKind, vitals: Pick<Vitals, 'today' | 'task_agents'> | null): string {
  const agent = vitals?.task_agents?.[kind];
  const price = `${names[kind]} costs one run of ${agent === undefined ? 'an agent' : `the agent "${agent}"`}.`;
  return vitals === null ? price : `${price} Used today: ${usedToday(kind, vitals.today)}.`;
}

function usedToday(kind: TaskKind, { roles = [], tokens, cost_usd, cost_limit_usd }: Vitals['today']): string {
  const role = taskRoleOfKind(kind);
  const own = roles.find((each) => each.role === role);
  const budget = { runsPerDay: own?.runs_limit ?? 0, usdPerDay: own?.cost_limit_usd ?? 0 };
  const ofRole =
    own === undefined
      ? []
      : [usedOfBudget(role, budget, { runs: own.runs, microUsd: Math.round(own.cost_usd * 1_000_000) })];
  const all = hasNoPrice(tokens, cost_usd) ? noPriceText : usdText(cost_usd);
  const limit = cost_limit_usd === null ? 'without a limit' : `of ${usdText(cost_limit_usd)} (limits.usd_per_day)`;
  return [...ofRole, `${all} by all agents, ${limit}`].join('; ');
}
