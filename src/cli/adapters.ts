import { fileURLToPath } from 'node:url';
import type { Agent } from '../agent/agent.ts';
import { createCommandAgent } from '../agent/command/command-agent.ts';
import type { AgentParts } from '../agent/launch-agent.ts';
import { createRehearsalAgent } from '../agent/rehearsal/rehearsal-agent.ts';
import type { BackendProfile } from '../core/backend-profile.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Problem } from '../core/problem.ts';
import type { Settings } from '../core/settings.ts';
import type { Workflow } from '../core/workflow.ts';
import type { WorkflowContext } from '../workflow/surroundings.ts';
import type { Surroundings } from './surroundings.ts';
import { trackerProfiles, workingTrackers } from './trackers.ts';

/** The agent backends a workflow file may name, and those of them that this version can work with. */
const backendProfiles: readonly BackendProfile[] = [
  { name: 'codex', requiredKeys: [] },
  { name: 'command', requiredKeys: ['agent.command'] },
  { name: 'rehearsal', requiredKeys: [] },
];
const workingBackends = ['command', 'rehearsal'];

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

/** Makes the agent that the settings name. */
export function createAgent(
  settings: Settings,
  parts: Omit<AgentParts, 'allowEnv' | 'denyEnv'>,
  surroundings: Surroundings,
): Agent {
  const { backend, command, turnTimeoutMs, readTimeoutMs, env } = settings.agent;
  const agentParts: AgentParts = { ...parts, allowEnv: env, denyEnv: settings.secretEnvironment };
  if (backend === 'command' && command !== null) return createCommandAgent({ command, turnTimeoutMs }, agentParts);
  if (backend === 'rehearsal') {
    const program = fileURLToPath(surroundings.rehearsalProgram);
    return createRehearsalAgent({ nodePath: surroundings.nodePath, program, readTimeoutMs, turnTimeoutMs }, agentParts);
  }
  throw new BatonError('unsupported_agent_backend', `There is no agent backend "${backend}" in this version.`);
}
