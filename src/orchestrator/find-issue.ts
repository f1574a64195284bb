import { boardStatuses } from '../core/board-status.ts';
import { type Issue, isMeantBy } from '../core/issue.ts';
import type { OrchestratorContext } from './context.ts';
import type { IssueName } from './scheduling-state.ts';

const caller = { job: 'commands', cause: 'person' } as const;

export interface FoundIssue {
  readonly issue: IssueName;
  /** As the tracker has it now; null when it was not asked, because the issue is claimed or waits here. */
  readonly fresh: Issue | null;
}

/**
 * The issue that somebody means by an id or an identifier, whatever its case: one the orchestrator knows, else one the
 * tracker has. By its id, which an earlier run may tell, it is found in any state; by its identifier in any state of a
 * tracker on this machine, and elsewhere only in an active one: to search the rest would cost request after request. Null
 * when there is none.
 */
export async function findIssue(context: OrchestratorContext, reference: string): Promise<FoundIssue | null> {
  const { state, source, reads, trackerFor } = context;
  const isMeant = (issue: IssueName): boolean => isMeantBy(issue, reference);
  const known = [state.running, state.retrying, state.held, state.skipped].flatMap((entries) =>
    [...entries.values()].map(({ issue }): IssueName => issue),
  );
  const found = known.find(isMeant);
  if (found !== undefined) return { issue: found, fresh: null };
  const id = (await knownId(context, reference)) ?? reference.trim();
  const byId = (await reads.byIds([id], caller)).get(id) ?? null;
  if (byId !== null) return { issue: byId, fresh: byId };
  const { settings } = source.read().workflow;
  const { activeStates, terminalStates, reviewStates } = settings.tracker;
  const states =
    trackerFor(settings).isLocal === true
      ? [...new Set([...activeStates, ...reviewStates, ...terminalStates, ...boardStatuses])]
      : activeStates;
  const listed = (await reads.byStates(states, caller)).find(isMeant);
  return listed === undefined ? null : { issue: listed, fresh: listed };
}

/** The id behind a name: of an issue that is claimed, waits or is over here, or of one that ran before. */
export async function knownId(
  { state, store, project }: OrchestratorContext,
  reference: string,
): Promise<string | null> {
  const wanted = reference.trim();
  const entries = [state.running, state.retrying, state.held, state.skipped, state.completed];
  const named: IssueName[] = entries.flatMap((each) => [...each.values()].map(({ issue }) => issue));
  const found = [...named, ...(state.candidates ?? [])].find((each) => isMeantBy(each, wanted));
  if (found !== undefined) return found.id;
  return (await store.runs.latestNamed(project, wanted))?.issueId ?? null;
}
