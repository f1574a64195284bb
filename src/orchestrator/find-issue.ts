import { toBatonError } from '../core/baton-error.ts';
import type { OrchestratorContext } from './context.ts';
import type { IssueName } from './scheduling-state.ts';

/**
 * The issue that somebody means by an id or an identifier, whatever its case: one the orchestrator knows, else one the
 * tracker has. Null when there is none.
 */
export async function findIssue(context: OrchestratorContext, reference: string): Promise<IssueName | null> {
  const { state, source, stopping } = context;
  const wanted = reference.trim().toLowerCase();
  const isMeant = ({ id, identifier }: IssueName): boolean =>
    id.toLowerCase() === wanted || identifier.toLowerCase() === wanted;
  const known = [state.running, state.retrying, state.held, state.skipped].flatMap((entries) =>
    [...entries.values()].map(({ issue }): IssueName => issue),
  );
  const found = known.find(isMeant);
  if (found !== undefined) return found;
  const { settings } = source.read().workflow;
  const tracker = context.trackerFor(settings);
  try {
    const [byId] = await tracker.fetchByIds([reference.trim()], stopping);
    if (byId !== undefined) return byId;
    return (await tracker.fetchByStates(settings.tracker.activeStates, stopping)).find(isMeant) ?? null;
  } catch (thrown) {
    throw toBatonError(thrown, 'tracker_request');
  }
}
