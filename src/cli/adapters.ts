import { fileURLToPath } from 'node:url';
import type { Agent } from '../agent/agent.ts';
import { createCodexAgent } from '../agent/codex/codex-agent.ts';
import { codexProfile } from '../agent/codex/profile.ts';
import { commandProfile, createCommandAgent } from '../agent/command/command-agent.ts';

import type { AgentParts } from '../agent/launch-agent.ts';

import { createRehearsalAgent, rehearsalProfile } from '../agent/rehearsal/rehearsal-agent.ts';
import type { BackendProfile } from '../core/backend-profile.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Problem } from '../core/problem.ts';
import { Secret } from '../core/secret.ts';
import type { AccountSettings, Settings } from '../core/settings.ts';
import type { Workflow } from '../core/workflow.ts';
import type { WorkflowContext } from '../workflow/surroundings.ts';
import type { Surroundings } from './surroundings.ts';
import { trackerProfiles, workingTrackers } from './trackers.ts';

/** The agent backends a workflow file may name, and those of them that this version can work with. */
const backendProfiles: readonly BackendProfile[] = [codexProfile, commandProfile, rehearsalProfile];
const workingBackends = ['codex', 'command', 'rehearsal'];

/** What the workflow room has to know of this machine and of the adapters. */
export function workflowContext(surroundings: Surroundings): WorkflowContext {
  return { surroundings, trackers: trackerProfiles, backends: backendProfiles };
}

/** The part of the settings that names adapters. */
interface WantedAdapters {
  readonly tracker: Pick<Settings['tracker'], 'kind'>;
  readonly agent: Pick<Settings['agent'], 'backend'>;
}

/** What a good workflow file asks for that this version does not have: said at the start, not at the first ticket. */
export function notInThisVersion({ tracker: { kind }, agent: { backend } }: WantedAdapters): Problem[] {
  const missing = (key: string, value: string, working: readonly string[]): Problem => ({
    code: 'unsupported_setting',
    severity: 'error',
    key,
    message: `${key} is "${value}", which this version of Baton can read but not work with yet; use ${working.join(' or ')}`,
  });
  const problems: Problem[] = [];
  if (!workingTrackers.includes(kind)) problems.push(missing('tracker.kind', kind, workingTrackers));
  if (!workingBackends.includes(backend)) problems.push(missing('agent.backend', backend, workingBackends));
  return problems;
}

/** Throws `unsupported_setting` when this version cannot work with the workflow. */
export function refuseUnsupported({ path, settings }: Workflow): void {
  const problems = notInThisVersion(settings);
  if (problems.length === 0) return;
  const text = problems.map(({ message }) => message).join('; ');
  throw new BatonError('unsupported_setting', `${path}: ${text}.`, { details: { problems } });
}

/** Makes the agent that the settings name, to work with the quota of this account. */
export function createAgent(
  settings: Settings,
  account: AccountSettings,
  parts: Omit<AgentParts, 'allowEnv' | 'denyEnv' | 'accountEnv'>,
  surroundings: Surroundings,
): Agent {
  const { backend, command, approvals, turnTimeoutMs, readTimeoutMs, env } = settings.agent;
  const profile = backendProfiles.find(({ name }) => name === backend);
  const agentParts: AgentParts = {
    ...parts,
    allowEnv: [...(profile?.environment ?? []), ...env],
    denyEnv: [...settings.secretEnvironment, ...ofOtherAccounts(settings.agent, account)],
    accountEnv: accountEnvironment(account, profile),
  };
  if (backend === 'codex') {
    const { tools, approvalPolicy, threadSandbox, turnSandboxPolicy } = settings.codex;
    const policies = { approvalPolicy, threadSandbox, turnSandboxPolicy, approvals, tools };
    const codex = { command: settings.codex.command, ...policies, readTimeoutMs, turnTimeoutMs };
    return createCodexAgent({ ...codex, version: surroundings.version }, agentParts);
  }
  if (backend === 'command' && command !== null) return createCommandAgent({ command, turnTimeoutMs }, agentParts);
  if (backend === 'rehearsal') {
    const program = fileURLToPath(surroundings.rehearsalProgram);
    return createRehearsalAgent({ nodePath: surroundings.nodePath, program, readTimeoutMs, turnTimeoutMs }, agentParts);
  }
  throw new BatonError('unsupported_agent_backend', `There is no agent backend "${backend}" in this version.`);
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
