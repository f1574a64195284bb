import { type Issue, normalizeState } from '../issue/issue.ts';
import type { Settings } from '../settings.ts';

/**
 * Which agent works on an issue. What must hold:
 *
 * - A person who chose one for this issue is obeyed; then the agent that its role has counts, then a label `agent:<name>` counts, then `agent.by_state`, then the
 *   section `agent`, whose name is `default`.
 * - Without `agents` in the file nothing is chosen: labels mean what they always did.
 * - A name that the file does not have starts nothing: another agent may cost more, or may do more than was meant.
 * - A stand-in works only while its agent cannot, or after it failed twice in a row on this issue. Then the stand-in of
 *   the stand-in counts, each once.
 */

/** Why an agent was chosen, as runs keep it. */
export const agentReasons = ['person', 'role', 'label', 'state', 'default', 'stand_in'] as const;
export type AgentReason = (typeof agentReasons)[number];

export interface ChosenAgent {
  readonly name: string;
  readonly because: AgentReason;
  /** The settings of its runs. */
  readonly settings: Settings;
}

export interface UnknownAgent {
  readonly unknown: string;
  readonly because: AgentReason;
}

export const defaultAgent = 'default';
export const agentLabel = 'agent:';
/** An agent that failed this often in a row on an issue is replaced by its stand-in. */
const failuresBeforeStandIn = 2;

export interface AgentWish {
  readonly issue: Pick<Issue, 'labels' | 'state'>;
  /** The name that a person chose for this issue; null where no one did. */
  readonly chosen: string | null;
  /** The agent that the settings give to the role of the run; null or absent: none. */
  readonly ofRole?: string | null;
  /** Failures in a row on this issue. */
  readonly failures: number;
}

/** The agents that a person can choose among; empty where the file has only one. */
export function agentNames({ agents }: Settings): readonly string[] {
  const named = Object.keys(agents);
  return named.length === 0 ? [] : [defaultAgent, ...named];
}

/** The settings of the runs of an agent; null for a name that the file does not have. */
export function settingsOfAgent(settings: Settings, name: string): Settings | null {
  if (name === defaultAgent) return settings;
  return Object.hasOwn(settings.agents, name) ? (settings.agents[name]?.settings ?? null) : null;
}

/** `isReady`: whether an agent with these settings could start now. */
export function chooseAgent(
  settings: Settings,
  wish: AgentWish,
  isReady: (settings: Settings) => boolean,
): ChosenAgent | UnknownAgent {
  const wanted = wantedAgent(settings, wish);
  const first = named(settings, wanted.name, wanted.because);
  if ('unknown' in first) return first;
  const tried = new Set([first.name]);
  const mustReplace = wish.failures >= failuresBeforeStandIn;
  let agent = first;
  while ((mustReplace && agent === first) || !isReady(agent.settings)) {
    const { standIn } = agent.settings.agent;
    if (standIn === null || tried.has(standIn)) break;
    const next = named(settings, standIn, 'stand_in');
    if ('unknown' in next) break;
    tried.add(standIn);
    agent = next;
  }
  // If no stand-in is ready either, the issue waits for its first agent.
  return isReady(agent.settings) ? agent : first;
}

function wantedAgent(
  { agent, agents }: Settings,
  { issue, chosen, ofRole = null }: AgentWish,
): { readonly name: string; readonly because: AgentReason } {
  if (Object.keys(agents).length === 0) return { name: defaultAgent, because: 'default' };
  if (chosen !== null) return { name: chosen, because: 'person' };
  if (ofRole !== null) return { name: ofRole, because: 'role' };
  const named = issue.labels.map((label) => label.trim().toLowerCase()).filter((label) => label.startsWith(agentLabel));
  // Of several labels the one that comes first in the alphabet: trackers do not keep an order.
  const label = named.toSorted()[0];
  if (label !== undefined) return { name: label.slice(agentLabel.length).trim(), because: 'label' };
  const ofState = agent.byState[normalizeState(issue.state)];
  return ofState === undefined ? { name: defaultAgent, because: 'default' } : { name: ofState, because: 'state' };
}

function named(settings: Settings, name: string, because: AgentReason): ChosenAgent | UnknownAgent {
  const own = settingsOfAgent(settings, name);
  return own === null ? { unknown: name, because } : { name, because, settings: own };
}
