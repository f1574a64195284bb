import type { Issue } from '../core/issue.ts';
import { cleanWorkspace } from './clean-workspaces.ts';
import type { OrchestratorContext } from './context.ts';
import { recordLanding } from './record-landing.ts';
import type { RunningEntry } from './scheduling-state.ts';

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

/**
 * Remembers an issue as finished: bookkeeping only, and nothing is decided by it. `openAt` is when it was last known not
 * to be over; null where it was ours until now.
 */
export function noteCompleted(context: OrchestratorContext, issue: Issue, openAt: number | null = null): void {
  const { id, identifier, title, url, state } = issue;
  context.state.followed.delete(id);
  const name = { id, identifier, url, ...(title.trim() === '' ? {} : { title }) };
  const entry = { issue: name, state, at: context.clock.now() };
  context.own('landing', recordLanding(context, entry, openAt));
}
