import { isMeantBy } from '../core/issue.ts';
import type { OrchestratorContext } from './context.ts';
import type { IssueName } from './scheduling-state.ts';

const caller = { job: 'commands', cause: 'person' } as const;

/**
 * The issue that somebody means by an id or an identifier, whatever its case: one the orchestrator knows, else one the
 * tracker has. Null when there is none.
 */
export async function findIssue(context: OrchestratorContext, reference: string): Promise<IssueName | null> {
  const { state, source, reads } = context;
  const isMeant = (issue: IssueName): boolean => isMeantBy(issue, reference);
  const known = [state.running, state.retrying, state.held, state.skipped].flatMap((entries) =>
    [...entries.values()].map(({ issue }): IssueName => issue),
  );
  const found = known.find(isMeant);
  if (found !== undefined) return found;
  const id = reference.trim();
  const byId = (await reads.byIds([id], caller)).get(id) ?? null;
  if (byId !== null) return byId;
  return (await reads.byStates(source.read().workflow.settings.tracker.activeStates, caller)).find(isMeant) ?? null;
}
