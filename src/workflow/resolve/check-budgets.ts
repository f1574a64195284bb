import type { BackendProfile } from '../../core/backend-profile.ts';
import type { Role } from '../../core/run/role.ts';
import { budgetedRoles, budgetOf } from '../../core/run/role-budget.ts';
import type { Settings } from '../../core/settings.ts';
import { errorAt, type Report } from '../workflow-problems.ts';

/**
 * A budget in money for a role whose agents may have no price would let one run a day through and then no other. It is
 * refused instead, as every limit that may not hold: the file does not say whether the price of the model is known.
 */
export function checkBudgets(settings: Settings, backends: readonly BackendProfile[], report: Report): void {
  const isPriced = ({ agent }: Settings): boolean =>
    backends.find(({ name }) => name === agent.backend)?.reports !== 'tokens' || Object.keys(agent.prices).length > 0;
  for (const role of budgetedRoles(settings)) {
    if ((budgetOf(role, settings)?.usdPerDay ?? 0) === 0) continue;
    const agents = agentsOf(role, settings);
    if (agents.length === 0 || agents.some(isPriced)) continue;
    const key = `${role}.usd_per_day`;
    const message = `Baton cannot enforce ${key}: its agent reports tokens, but no cost. Set agent.prices, or limit the runs with ${role}.runs_per_day`;
    report(errorAt(key, message, { problem: 'no_price' }));
  }
}

/** The agents that may have the role; a label or a state may choose any where the section names none. */
function agentsOf(role: Role, settings: Settings): readonly Settings[] {
  const all: Readonly<Record<string, Settings>> = {
    ...Object.fromEntries(Object.entries(settings.agents).map(([name, each]) => [name, each.settings])),
    default: settings,
  };
  const section = (settings as unknown as Partial<Record<string, AgentSection>>)[role];
  const named = section?.agents ?? (section?.agent == null ? Object.keys(all) : [section.agent]);
  // An unknown name is reported as such.
  return named.flatMap((name) => all[name] ?? []);
}

/** The sections of roles differ; that of the judge lists its agents, others name one. */
interface AgentSection {
  readonly agent?: string | null;
  readonly agents?: readonly string[];
}
