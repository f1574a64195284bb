import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Agent } from '../agent/agent.ts';
import { createCommandAgent } from '../agent/command/command-agent.ts';
import type { AgentParts } from '../agent/launch-agent.ts';
import { createRehearsalAgent } from '../agent/rehearsal/rehearsal-agent.ts';
import type { Clock } from '../clock/clock.ts';
import type { BackendProfile } from '../core/backend-profile.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Problem } from '../core/problem.ts';
import type { Settings, TrackerSettings } from '../core/settings.ts';
import type { TrackerProfile } from '../core/tracker-profile.ts';
import type { Workflow } from '../core/workflow.ts';
import { linearProfile } from '../tracker/linear/profile.ts';
import { parseIssuesFile } from '../tracker/memory/issues-file.ts';
import { MemoryTracker } from '../tracker/memory/memory-tracker.ts';
import { memoryProfile } from '../tracker/memory/profile.ts';
import type { WorkflowContext } from '../workflow/surroundings.ts';
import type { Surroundings } from './surroundings.ts';

/** The tracker kinds a workflow file may name, and those of them that this version can work with. */
const trackerProfiles: readonly TrackerProfile[] = [memoryProfile, linearProfile];
const workingTrackers = ['memory'];

/** The same for agent backends. */
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

/** What a good workflow file asks for that this version does not have: said at the start, not at the first ticket. */
export function notInThisVersion(settings: Settings): Problem[] {
  const missing = (key: string, value: string, working: readonly string[]): Problem => ({
    code: 'unsupported_setting',
    severity: 'error',
    key,
    message: `${key} is "${value}", which this version of Baton can read but not work with yet; use ${working.join(' or ')}`,
  });
  const problems: Problem[] = [];
  const { kind } = settings.tracker;
  const { backend } = settings.agent;
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

/** Makes trackers by their settings; the same settings give the same tracker, so that what it holds is kept. */
export function trackerMaker(clock: Clock): (settings: Settings) => MemoryTracker {
  const made = new Map<string, MemoryTracker>();
  return ({ tracker }) => {
    const key = JSON.stringify([tracker.kind, tracker.provider, tracker.activeStates, tracker.terminalStates]);
    const known = made.get(key) ?? createTracker(tracker, clock);
    made.set(key, known);
    return known;
  };
}

function createTracker(settings: TrackerSettings, clock: Clock): MemoryTracker {
  if (settings.kind !== 'memory') {
    throw new BatonError(
      'unsupported_tracker_kind',
      `There is no tracker "${settings.kind}" in this version; use memory.`,
    );
  }
  const file = settings.provider.issues_file;
  const issues = typeof file === 'string' ? parseIssuesFile(readIssues(file), file) : [];
  const states = [...settings.activeStates, ...settings.terminalStates, ...issues.map(({ state }) => state)];
  return new MemoryTracker({ issues, states: [...new Set(states)], clock });
}

function readIssues(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new BatonError('invalid_tracker_config', `The issues file ${file} cannot be read.`, {
      cause,
      details: { key: 'tracker.provider.issues_file' },
    });
  }
}

/** Makes the agent that the settings name. */
export function createAgent(
  settings: Settings,
  parts: Omit<AgentParts, 'allowEnv' | 'denyEnv'>,
  surroundings: Surroundings,
): Agent {
  const { backend, command, turnTimeoutMs, readTimeoutMs, env } = settings.agent;
  const agentParts: AgentParts = { ...parts, allowEnv: env, denyEnv: settings.tracker.secretEnvironment };
  if (backend === 'command' && command !== null) return createCommandAgent({ command, turnTimeoutMs }, agentParts);
  if (backend === 'rehearsal') {
    const program = fileURLToPath(surroundings.rehearsalProgram);
    return createRehearsalAgent({ nodePath: surroundings.nodePath, program, readTimeoutMs, turnTimeoutMs }, agentParts);
  }
  throw new BatonError('unsupported_agent_backend', `There is no agent backend "${backend}" in this version.`);
}
