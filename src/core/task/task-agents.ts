import { chooseAgent } from '../run/choose-agent.ts';
import type { Settings } from '../settings.ts';
import { type TaskKind, taskRoleOfKind } from './task.ts';

export type TaskAgents = Readonly<Record<TaskKind, string>>;

/** The agent that each kind of task gets, as long as it is ready; null where the file has only one. */
export function taskAgents(settings: Settings): TaskAgents | null {
  if (Object.keys(settings.agents).length === 0) return null;
  const { activeStates, requiredLabels } = settings.tracker;
  const issue = { state: activeStates[0] ?? '', labels: requiredLabels };
  const agentOf = (kind: TaskKind): string => {
    const ofRole = settings[taskRoleOfKind(kind)].agent;
    const found = chooseAgent(settings, { issue, chosen: null, ofRole, failures: 0 }, () => true);
    return 'unknown' in found ? found.unknown : found.name;
  };
  return {
    intake: agentOf('intake'),
    scan: agentOf('scan'),
    setup: agentOf('setup'),
    learn: agentOf('learn'),
  };
}
