import { toBatonError } from '../core/baton-error.ts';
import { stateClass } from '../core/eligibility.ts';
import type { Issue } from '../core/issue.ts';
import type { Settings } from '../core/settings.ts';
import type { OrchestratorContext } from './context.ts';
import { isClaimed } from './scheduling-state.ts';

export interface Cleanup {
  readonly issue: Pick<Issue, 'id' | 'identifier' | 'title'>;
  /** As it was written down when it was made; the root may be another by now. */
  readonly path: string;
  readonly runId: string | null;
  readonly attempt: number | null;
  /** Those of the run, for its hooks. */
  readonly settings: Settings;
}

/**
 * Removes the workspace of an issue that is in a terminal state. No run of it starts meanwhile. What cannot be removed
 * is told and stays: a workspace too many is no harm, one too few is.
 */
export async function cleanWorkspace(context: OrchestratorContext, cleanup: Cleanup): Promise<void> {
  const { state, logger, stopping } = context;
  const { issue, path, runId, attempt, settings } = cleanup;
  if (isClaimed(state, issue.id) || state.cleaning.has(issue.id)) return;
  state.cleaning.add(issue.id);
  const named = { issue_id: issue.id, issue_identifier: issue.identifier, workspace: path };
  try {
    const workspaces = context.workspacesFor(settings);
    if (!(await workspaces.isThere(path)) || (await isElsewhere(context, issue.id))) return;
    // What was read some time ago may be open again.
    if (!(await isStillOver(context, issue.id))) return;
    const visit = { issue, runId, attempt, signal: stopping };
    const removal = await workspaces.remove({ path, identifier: issue.identifier }, visit);
    if (removal.outcome === 'removed') logger.info('The workspace of a finished issue was removed.', named);
    if (removal.outcome === 'kept')
      logger.info('The workspace of a finished issue is kept.', { ...named, reason: removal.reason });
  } catch (error) {
    logger.warn('The workspace of a finished issue could not be removed.', { ...named, error });
  } finally {
    state.cleaning.delete(issue.id);
  }
  context.fillSlots();
}

async function isStillOver({ reads, source }: OrchestratorContext, issueId: string): Promise<boolean> {
  const issue = (await reads.byIds([issueId])).get(issueId) ?? null;
  return issue !== null && stateClass(issue.state, source.read().workflow.settings.tracker) === 'terminal';
}

/** Another daemon may have its agent in there, saying its last words. */
async function isElsewhere(
  { store, project, owner, isShared }: OrchestratorContext,
  issueId: string,
): Promise<boolean> {
  if (!isShared) return false;
  const claim = await store.claims.read({ project, issueId });
  return claim !== null && claim.owner !== owner;
}

/** As `cleanWorkspace`, at the place that the last run of the issue wrote down. */
export async function cleanAfterLastRun(context: OrchestratorContext, issue: Issue): Promise<void> {
  const { store, project, source } = context;
  const last = await store.runs.latestOfIssue({ project, issueId: issue.id });
  const { settings } = source.read().workflow;
  if (last === null || last.workspace === null) return;
  await cleanWorkspace(context, { issue, path: last.workspace, runId: last.runId, attempt: last.attempt, settings });
}

/**
 * At the start: removes the workspaces of issues that ended while no daemon ran (seed 2, Startup Terminal Workspace
 * Cleanup). A tracker that does not answer is only a warning.
 */
export async function cleanTerminalWorkspaces(context: OrchestratorContext): Promise<void> {
  const { source, reads, logger, stopping } = context;
  const { settings } = source.read().workflow;
  const workspaces = context.workspacesFor(settings);
  await workspaces.finishRemovals(settings.workspace.root);
  let issues: readonly Issue[];
  try {
    issues = await reads.byStates(settings.tracker.terminalStates);
  } catch (thrown) {
    const error = toBatonError(thrown);
    if (!stopping.aborted)
      logger.warn('The finished issues could not be read; their workspaces stay until the next start.', { error });
    return;
  }
  for (const issue of issues) {
    if (stopping.aborted) return;
    const path = pathOf(() => workspaces.pathOf(issue.identifier));
    if (path !== null) await cleanWorkspace(context, { issue, path, runId: null, attempt: null, settings });
  }
}

/** Null for an identifier that can have no workspace. */
function pathOf(find: () => string): string | null {
  try {
    return find();
  } catch {
    return null;
  }
}
