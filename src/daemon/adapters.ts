import { fileURLToPath } from 'node:url';
import type { Agent } from '../agent/agent.ts';
import { type CodexAgentOptions, createCodexAgent } from '../agent/codex/codex-agent.ts';
import { codexProfile } from '../agent/codex/profile.ts';
import { codexSettings } from '../agent/codex/settings.ts';
import { commandProfile, commandSettings, createCommandAgent } from '../agent/command/command-agent.ts';
import type { AgentParts } from '../agent/launch-agent.ts';
import { createRehearsalAgent, rehearsalProfile } from '../agent/rehearsal/rehearsal-agent.ts';
import type { BackendProfile } from '../core/backend-profile.ts';
import { BatonError } from '../core/baton-error.ts';
import type { AccountSettings, Settings } from '../core/settings.ts';
import { Secret } from '../core/text/secret.ts';
import { childEnvironment, usualVariables } from '../process/child-environment.ts';
import type { WorkflowContext } from '../workflow/workflow-context.ts';
import { secretsAmong } from './agent-environment.ts';
import type { Surroundings } from './surroundings.ts';
import { trackerProfiles } from './trackers.ts';

/** The agent backends a workflow file may name. */
export const backendProfiles: readonly BackendProfile[] = [codexProfile, commandProfile, rehearsalProfile];

/** What the workflow room has to know of this machine and of the adapters. */
export function workflowContext(surroundings: Surroundings): WorkflowContext {
  return { surroundings, trackers: trackerProfiles, backends: backendProfiles };
}

/** Makes the agent that the settings name, to work with the quota of this account. */
export function createAgent(
  settings: Settings,
  account: AccountSettings,
  parts: Omit<AgentParts, 'allowEnv' | 'denyEnv' | 'accountEnv'>,
  surroundings: Surroundings,
): Agent {
  const agentParts: AgentParts = { ...parts, ...agentVariables(settings, account) };
  const { daemonEnv: from, allowEnv, denyEnv: deny, accountEnv: add } = agentParts;
  const secrets = secretsAmong(childEnvironment({ from, allow: [...usualVariables, ...allowEnv], deny, add }));
  return { ...agentOf(settings, agentParts, surroundings), secrets };
}

/** Which variables an agent on this account gets, and which are kept from it. */
export function agentVariables(
  settings: Settings,
  account: AccountSettings,
): Pick<AgentParts, 'allowEnv' | 'denyEnv' | 'accountEnv'> {
  const profile = backendProfiles.find(({ name }) => name === account.backend);
  return {
    allowEnv: [...(profile?.environment ?? []), ...settings.agent.env],
    denyEnv: [...settings.secretEnvironment, ...ofOtherAccounts(settings.agent, account)],
    accountEnv: accountEnvironment(account, profile),
  };
}

function agentOf(settings: Settings, agentParts: AgentParts, surroundings: Surroundings): Agent {
  const { backend, turnTimeoutMs, readTimeoutMs } = settings.agent;
  if (backend === 'codex') {
    return createCodexAgent(codexOptions(settings, surroundings), agentParts);
  }
  const { command } = commandSettings(settings);
  if (backend === 'command' && command !== null) return createCommandAgent({ command, turnTimeoutMs }, agentParts);
  if (backend === 'rehearsal') {
    const program = fileURLToPath(surroundings.rehearsalProgram);
    return createRehearsalAgent({ nodePath: surroundings.nodePath, program, readTimeoutMs, turnTimeoutMs }, agentParts);
  }
  throw new BatonError('unsupported_agent_backend', `There is no agent backend "${backend}" in this version.`);
}

/** Codex as the settings want it. */
export function codexOptions(settings: Settings, { version }: Surroundings): CodexAgentOptions {
  const { approvals, readTimeoutMs, turnTimeoutMs } = settings.agent;
  return { ...codexSettings(settings), approvals, readTimeoutMs, turnTimeoutMs, version };
}

/** Variables that other accounts of the backend set and this one does not: whatever the daemon has there is theirs. */
function ofOtherAccounts({ accounts }: Settings['agent'], account: AccountSettings): string[] {
  const others = accounts.filter(({ backend, name }) => backend === account.backend && name !== account.name);
  return others.flatMap(({ env }) => Object.keys(env)).filter((name) => !Object.hasOwn(account.env, name));
}

/** What an account hands to its agent; only here a secret of it is revealed. */
function accountEnvironment(
  { env, home }: AccountSettings,
  profile: BackendProfile | undefined,
): Record<string, string> {
  const variable = profile?.homeVariable ?? null;
  return {
    ...Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, value instanceof Secret ? value.reveal() : value]),
    ),
    ...(home === null || variable === null ? {} : { [variable]: home }),
  };
}
