import { fileURLToPath } from 'node:url';
import type { Agent } from '../agent/agent.ts';
import type { AgentBackend, AgentHost } from '../agent/backend.ts';
import { agentBackends } from '../agent/backends.ts';
import type { AgentParts } from '../agent/launch-agent.ts';
import { BatonError } from '../core/baton-error.ts';
import type { AccountSettings, Settings } from '../core/settings.ts';
import { Secret } from '../core/text/secret.ts';
import { childEnvironment, secretsAmong, usualVariables } from '../process/child-environment.ts';
import type { TrackerAdapter } from '../tracker/adapter.ts';
import { trackerAdapters } from '../tracker/adapters.ts';
import type { WorkflowContext } from '../workflow/workflow-context.ts';
import { type Isolate, isolationOfAgent } from './compose-isolation.ts';
import { defaultWorkspaceRoot } from './state-folder.ts';
import type { Adapters, Surroundings } from './surroundings.ts';

const ownAdapters: Adapters = { trackers: trackerAdapters, backends: agentBackends };

export function adaptersIn({ adapters = ownAdapters }: Pick<Surroundings, 'adapters'>): Adapters {
  return adapters;
}

/** What `workflow` needs to know of this machine and of the adapters. `stateDir` is the flag of the command line. */
export function workflowContext(surroundings: Surroundings, stateDir: string | undefined): WorkflowContext {
  const { env, homeDir, timeZone } = surroundings;
  const defaultRoot = (workflowPath: string): string => defaultWorkspaceRoot(workflowPath, stateDir, surroundings);
  return { surroundings: { env, homeDir, timeZone, defaultRoot }, ...adaptersIn(surroundings) };
}

export function findTracker(kind: string, surroundings: Pick<Surroundings, 'adapters'>): TrackerAdapter {
  const { trackers } = adaptersIn(surroundings);
  const found = trackers.find((each) => each.kind === kind);
  if (found !== undefined) return found;
  const known = trackers.map((each) => each.kind).join(' or ');
  throw new BatonError('unsupported_tracker_kind', `This version of Baton has no tracker "${kind}". Use ${known}.`);
}

export function findBackend(name: string, surroundings: Pick<Surroundings, 'adapters'>): AgentBackend {
  const { backends } = adaptersIn(surroundings);
  const found = backends.find((each) => each.name === name);
  if (found !== undefined) return found;
  const known = backends.map((each) => each.name).join(' or ');
  throw new BatonError(
    'unsupported_agent_backend',
    `This version of Baton has no agent backend "${name}". Use ${known}.`,
  );
}

/** Creates the agent that the settings name, using the quota of this account. */
export function createAgent(
  settings: Settings,
  account: AccountSettings,
  parts: Omit<AgentParts, 'allowEnv' | 'denyEnv' | 'accountEnv' | 'isolate'>,
  isolate: Isolate,
  surroundings: Surroundings,
): Agent {
  const backend = findBackend(settings.agent.backend, surroundings);
  const agentParts: AgentParts = {
    ...parts,
    ...agentVariables(settings, account, surroundings),
    isolate: isolationOfAgent(isolate, backend, settings, account, surroundings),
  };
  const { daemonEnv: from, allowEnv, denyEnv: deny, accountEnv: add } = agentParts;
  const given = childEnvironment({ from, allow: [...usualVariables, ...allowEnv], deny, add });
  // An agent may also find what the daemon has and no agent gets, such as the key of another tracker.
  const secrets = [...secretsAmong(given), ...secretsAmong(from)];
  return { ...backend.create(settings, agentParts, hostOf(backend, surroundings)), secrets };
}

export function hostOf(
  { name }: AgentBackend,
  { version, nodePath, agentProgram }: Pick<Surroundings, 'version' | 'nodePath' | 'agentProgram'>,
): AgentHost {
  return { version, nodePath, program: fileURLToPath(agentProgram(name)) };
}

/** Which variables an agent on this account gets, and which are withheld. */
export function agentVariables(
  settings: Settings,
  account: AccountSettings,
  surroundings: Pick<Surroundings, 'adapters'>,
): Pick<AgentParts, 'allowEnv' | 'denyEnv' | 'accountEnv'> {
  const backend = findBackend(account.backend, surroundings);
  return {
    allowEnv: [...backend.environment, ...settings.agent.env],
    denyEnv: [...settings.secretEnvironment, ...ofOtherAccounts(settings.agent, account)],
    accountEnv: accountEnvironment(account, backend),
  };
}

/**
 * Variables that other accounts of the backend set and this one does not: their values in the daemon's environment
 * belong to those accounts.
 */
function ofOtherAccounts({ accounts }: Settings['agent'], account: AccountSettings): string[] {
  const others = accounts.filter(({ backend, name }) => backend === account.backend && name !== account.name);
  return others.flatMap(({ env }) => Object.keys(env)).filter((name) => !Object.hasOwn(account.env, name));
}

/** The variables that an account passes to its agent. Only this function reveals its secrets. */
function accountEnvironment({ env, home }: AccountSettings, { homeVariable }: AgentBackend): Record<string, string> {
  const values = Object.entries(env).map(([name, value]) => [name, value instanceof Secret ? value.reveal() : value]);
  if (home !== null && homeVariable !== null) values.push([homeVariable, home]);
  return Object.fromEntries(values);
}
