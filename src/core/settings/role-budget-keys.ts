import { setting } from './setting.ts';

/**
 * The keys with which a section that has the name of a role gives it a budget of its own (`core/run/role-budget.ts`).
 * 0 switches a limit off.
 */
export function roleBudgetKeys(role: string, runsPerDay = 0) {
  return {
    runs_per_day: setting('natural_number', runsPerDay, 'at once', 'guarded_upwards', {
      description: `How many runs of this role (${role}) may start in a UTC day. \`0\`: no limit.`,
    }),
    usd_per_day: setting('usd_amount', 0, 'at once', 'guarded_upwards', {
      description: `How much the runs of this role (${role}) may cost in a UTC day. If the price of a run is not known, no further run starts on that day. Refused if the agents of the role report no cost and \`agent.prices\` has no price. \`0\`: no limit.`,
    }),
  };
}
