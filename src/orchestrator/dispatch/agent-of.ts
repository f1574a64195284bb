import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import {
  type AgentWish,
  type ChosenAgent,
  chooseAgent,
  settingsOfAgent,
  type UnknownAgent,
} from '../../core/run/choose-agent.ts';
import type { AccountSettings, AgentSettings, Settings } from '../../core/settings.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Accounts } from '../runs/accounts.ts';

export type ReadyAccounts = Pick<Accounts, 'whyNone'>;

/** The accounts during one decision, which asks the same about every issue: each answer is found once. */
export function duringDecision(accounts: ReadyAccounts): ReadyAccounts {
  const known = new Map<AgentSettings, Map<number, SkipReason | null>>();
  return {
    whyNone: (agent, startsBefore) => {
      const answers = known.get(agent) ?? new Map<number, SkipReason | null>();
      known.set(agent, answers);
      if (!answers.has(startsBefore)) answers.set(startsBefore, accounts.whyNone(agent, startsBefore));
      return answers.get(startsBefore) ?? null;
    },
  };
}

/** The agent for the next run of an issue, by the rules of `core/run/choose-agent.ts` and the accounts as they are. */
export function agentOf(
  accounts: ReadyAccounts,
  settings: Settings,
  wish: AgentWish,
  startsBefore = 0,
): ChosenAgent | UnknownAgent {
  return chooseAgent(settings, wish, ({ agent }) => accounts.whyNone(agent, startsBefore) === null);
}

/** Why no agent may start on an issue now; null when one may. */
export function whyNoAgent(
  accounts: ReadyAccounts,
  settings: Settings,
  wish: AgentWish,
  startsBefore: number,
): SkipReason | null {
  const found = agentOf(accounts, settings, wish, startsBefore);
  if (!('unknown' in found)) return accounts.whyNone(found.settings.agent, startsBefore);
  const names = Object.keys(settings.agents).join(', ');
  const text = `the workflow file has no agent "${harmlessLine(found.unknown)}" (by ${found.because}); it has: ${names}`;
  return { code: 'unknown_agent', text };
}

/** Why no agent of the file may start on any issue; null when one may. */
export function whyNoAgentAtAll(accounts: Accounts, settings: Settings, startsBefore: number): SkipReason | null {
  const all = agentsIn(settings).map(({ agent }) => accounts.whyNone(agent, startsBefore));
  return all.includes(null) ? null : (all[0] ?? null);
}

/** Time until an agent could do the next run of an issue; 0 when one could now. */
export function agentReadyInMs(accounts: Accounts, settings: Settings, wish: AgentWish): number {
  const found = agentOf(accounts, settings, wish);
  const own = 'unknown' in found ? settings : found.settings;
  return accounts.readyInMs(own.agent);
}

/** The settings of every agent, that of the section `agent` first. */
export function agentsIn(settings: Settings): readonly Settings[] {
  return [settings, ...Object.values(settings.agents).map((each) => each.settings)];
}

/** The accounts that some agent of the file uses. */
export function accountsIn(settings: Settings): readonly AccountSettings[] {
  const all = agentsIn(settings).flatMap(({ agent }) =>
    agent.accounts.filter(({ backend }) => backend === agent.backend),
  );
  return [...new Map(all.map((account) => [JSON.stringify([account.backend, account.name]), account])).values()];
}

export function backendsIn(settings: Settings): ReadonlySet<string> {
  return new Set(agentsIn(settings).map(({ agent }) => agent.backend));
}

/** The settings that a run by this agent has now; those of the section `agent` where the file has it no more. */
export function settingsOfRun(settings: Settings, name: string): Settings {
  return settingsOfAgent(settings, name) ?? settings;
}
