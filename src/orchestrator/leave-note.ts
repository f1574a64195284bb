import type { OrchestratorContext } from './context.ts';
import { bothNotes } from './run-wish.ts';
import type { IssueName } from './scheduling-state.ts';

/**
 * Leaves a note for the next run of an issue: written to the last one, from which the next takes over what was not told.
 * Left twice it is told once. False when there was no run before.
 */
export async function leaveNote(
  { store, project }: OrchestratorContext,
  issue: IssueName,
  note: string,
): Promise<boolean> {
  return store.transaction(async ({ runs }) => {
    const last = await runs.latestOfIssue({ project, issueId: issue.id });
    return last !== null && runs.keepNote(last.runId, bothNotes(last.note ?? null, note) ?? note);
  });
}
