import type { AgentSettings, LimitSettings, Settings } from '../../src/core/settings.ts';
import type { OrchestratorParts } from '../../src/orchestrator/assemble.ts';
import type { Store, StoreTables } from '../../src/store/store.ts';
import type { RuleName } from './broken-rule.ts';
import { drawPlan, type Plan } from './plan.ts';
import { runSeed, type SeedResult } from './run-seed.ts';
import type { Sabotage } from './sabotage.ts';
import type { World } from './world.ts';

/* A world without faults, and ways to break one part of it. */

export const noLimits = {
  runsPerIssue: 0,
  tokensPerIssue: 0,
  runWallTimeMs: 0,
  issueWallTimeMs: 0,
  usdPerIssue: 0,
  tokensPerDay: 0,
  usdPerDay: 0,
};

export const quiet = {
  stormMs: 10 * 60_000,
  issues: 6,
  tracker: { slowestMs: 200, errors: 0, hangs: 0 },
  daemons: 1,
  machines: 1,
  isShared: false,
  store: { slow: 0, fullPerMinute: 0, lostPerMinute: 0, answersLost: 0 },
  agents: { hostile: 0, survives: 0, asks: 0, nearlyOut: 0, tempers: null },
  workspaces: { fails: 0 },
  people: { changesPerMinute: 0, commandsPerMinute: 0, takeoversPerMinute: 0, steersPerMinute: 0, answers: 1 },
  incarnations: { killed: 0, longestCalls: 1, stoppedPerMinute: 0, frozenPerMinute: 0 },
  file: { badPerMinute: 0, changedPerMinute: 0 },
  wall: { jumpsPerMinute: 0 },
  trackerStormsPerMinute: 0,
  review: null,
  pipeline: null,
  planner: null,
  tasks: null,
} satisfies Partial<Plan>;

export const hostile = agents({});

/** Only hostile agents, with these properties. */
export function agents(are: Partial<Plan['agents']>): { readonly agents: Plan['agents'] } {
  return { agents: { ...quiet.agents, hostile: 1, ...are } };
}

/** Agents that ask in every turn, and people who answer soon or late. */
export const asking = { ...agents({ hostile: 0, asks: 1 }), people: quiet.people };

/** The daemon sees no hold in the store. */
export const withoutHolds: NonNullable<Sabotage['parts']> = (parts, world, incarnation) => {
  const blind = changedStore((tables) => ({ ...tables, held: { ...tables.held, list: async () => [] } }));
  const { store, ...others } = blind(parts, world, incarnation);
  const recovery: Store['recovery'] = async (...args) => ({ ...(await store.recovery(...args)), held: [] });
  return { ...others, store: { ...store, recovery } };
};

export function withMaxRetries(maxRetries: number): Settings {
  const { settings } = drawPlan(1, { pipeline: null, tasks: null });
  return { ...settings, agent: { ...settings.agent, maxRetries }, limits: noLimits };
}

export function inQuietWorld(
  sabotage: Sabotage,
  plan: Partial<Plan> = {},
  only?: RuleName,
  seed = 1,
): Promise<SeedResult> {
  const { settings } = drawPlan(1, { pipeline: null, tasks: null });
  const tracker = { ...settings.tracker, requiredLabels: [] };
  const workspace = { ...settings.workspace, retentionMs: 0 };
  const agent: AgentSettings = {
    ...settings.agent,
    maxConcurrentAgents: 2,
    maxConcurrentAgentsByState: {},
    maxRetries: 0,
    accounts: settings.agent.accounts.slice(0, 1),
    approvals: 'ask',
    askTimeoutMs: 15_000,
    contextRecovery: { reducedBudgetTokens: 50_000, compact: true, freshStart: true, largerModel: 'larger' },
  };
  return runSeed(seed, {
    plan: { ...quiet, settings: { ...settings, tracker, agent, workspace, limits: noLimits }, ...plan },
    sabotage,
    only,
  });
}

/** Whether this rule alone finds a fault in such a world. */
export async function isBroken(rule: RuleName, sabotage: Sabotage, plan: Partial<Plan> = {}): Promise<boolean> {
  return (await inQuietWorld(sabotage, plan, rule)).broken?.rule === rule;
}

/** Whether this rule alone finds the fault in one of a few such worlds. */
export async function isFound(rule: RuleName, sabotage: Sabotage, plan: Partial<Plan>): Promise<boolean> {
  for (let seed = 1; seed <= mostSeeds; seed += 1)
    if ((await inQuietWorld(sabotage, plan, rule, seed)).broken?.rule === rule) return true;
  return false;
}

const mostSeeds = 5;

/** The daemon reads other settings than the real ones. */
export function withSettings(change: (settings: Settings) => Settings): NonNullable<Sabotage['parts']> {
  return changed(({ source }) => ({
    source: {
      read: () => {
        const { workflow, problem } = source.read();
        return { workflow: { ...workflow, settings: change(workflow.settings) }, problem };
      },
    },
  }));
}

/** Replaces some of the real parts. */
export function changed(
  change: (parts: OrchestratorParts) => Partial<OrchestratorParts>,
): NonNullable<Sabotage['parts']> {
  return (parts) => ({ ...parts, ...change(parts) });
}

/** The daemon reads settings that differ from the real ones. */
export function withAgent(agent: Partial<AgentSettings>): NonNullable<Sabotage['parts']> {
  return changed(({ source }) => ({
    source: {
      read: () => {
        const { workflow, problem } = source.read();
        const settings = { ...workflow.settings, agent: { ...workflow.settings.agent, ...agent } };
        return { workflow: { ...workflow, settings }, problem };
      },
    },
  }));
}

/** Like `withAgent`, for the limits. */
export function withLimits(limits: LimitSettings): NonNullable<Sabotage['parts']> {
  return changed(({ source }) => ({
    source: {
      read: () => {
        const { workflow, problem } = source.read();
        return { workflow: { ...workflow, settings: { ...workflow.settings, limits } }, problem };
      },
    },
  }));
}

export function withRecovery(store: Store, recovery: Store['recovery']): Store {
  return new Proxy(store, { get: (target, name) => (name === 'recovery' ? recovery : Reflect.get(target, name)) });
}

/** Replaces tables of the store, inside transactions too. */
export function changedStore(change: (tables: StoreTables) => StoreTables): NonNullable<Sabotage['parts']> {
  return changed(({ store }) => ({
    store: {
      ...change(store),
      engine: store.engine,
      transaction: (work) => store.transaction((tables) => work(change(tables))),
      recovery: (project, at) => store.recovery(project, at),
      maintain: () => store.maintain(),
      close: () => store.close(),
      [Symbol.asyncDispose]: () => store.close(),
    } satisfies Store,
  }));
}

export function once(act: (world: World) => Promise<void>): (world: World) => void {
  let isDone = false;
  return (world) => {
    if (isDone) return;
    isDone = true;
    void act(world);
  };
}
