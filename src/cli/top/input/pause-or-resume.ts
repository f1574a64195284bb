import type { Now } from '../../../server/api/schema/now.ts';
import { rowOf, type TopState } from '../top-state.ts';

/** The project that keys are about: the only one, or that of the selected row. Null when nobody can tell. */
export function projectOf(state: TopState): Now | null {
  const name = state.nows.length === 1 ? state.nows[0]?.project : rowOf(state)?.project;
  return state.nows.find(({ project }) => project === name) ?? null;
}

/** What `p` does to a project: whatever stops it, a person or the limit of the day, it goes on; else it pauses. */
export function pauseOrResume({ vitals, needs_you: needs }: Now): 'pause' | 'resume' {
  const isStopped = needs.some(({ kind, issue_id: id, actions }) => {
    return kind === 'limit' && id === null && actions.includes('resume');
  });
  return vitals.paused !== null || isStopped ? 'resume' : 'pause';
}
