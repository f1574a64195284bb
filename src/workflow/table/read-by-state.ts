import { normalizeState } from '../../core/issue/issue.ts';
import { errorAt, type Report } from '../workflow-problems.ts';
import type { SettingValues } from './setting-table.ts';

/** Numbers by state, under the normalised names of the states: each state has one. */
export function readByState(
  values: SettingValues,
  key: 'agent.max_concurrent_agents_by_state' | 'workspace.retention_ms_by_state',
  report: Report,
): Record<string, number> {
  const byState = new Map<string, number>();
  for (const [state, number] of Object.entries(values[key])) {
    const name = normalizeState(state);
    if (byState.has(name)) {
      const message = `${key} names the state ${JSON.stringify(name)} twice`;
      report(errorAt(`${key}.${state}`, message, { problem: 'repeated', state: name }));
    }
    byState.set(name, number);
  }
  return Object.fromEntries(byState);
}
