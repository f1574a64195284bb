import { cleanWorkspace } from './clean-workspaces.ts';
import type { OrchestratorContext } from './context.ts';
import type { RunningEntry } from './scheduling-state.ts';

/** How many finished issues are remembered for people. */
const mostCompleted = 1_000;

/** The issue reached a terminal state: it is noted for people, and its workspace is removed when its time is over. */
export function complete(
  context: OrchestratorContext,
  { issue, runId, workspace, workflow, attempt }: RunningEntry,
): void {
  noteCompleted(context, issue);
  if (workspace === null) return;
  const settings = workflow.settings;
  context.own('cleanup', cleanWorkspace(context, { issue, path: workspace, runId, attempt, settings }));
}

/** Remembers an issue as finished: bookkeeping only, bounded, and nothing is decided by it. */
export function noteCompleted(
  { state, clock }: OrchestratorContext,
  { id, identifier, state: trackerState }: { id: string; identifier: string; state: string },
): void {
  state.completed.delete(id);
  state.completed.set(id, { issue: { id, identifier }, state: trackerState, at: clock.now() });
  const oldest = state.completed.keys().next().value;
  if (state.completed.size > mostCompleted && oldest !== undefined) state.completed.delete(oldest);
}
