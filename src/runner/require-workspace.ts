import { BatonError } from '../core/baton-error.ts';
import type { Issue } from '../core/issue.ts';
import type { Workspace, Workspaces } from '../workspace/workspace.ts';

/**
 * Right before the launch: the agent's directory is the workspace of its issue, and it is there. A hook, or whoever else
 * writes below the root, may have put a link in its place since it was prepared, and an agent goes where a link leads.
 */
export async function requireWorkspace(workspaces: Workspaces, { path }: Workspace, issue: Issue): Promise<void> {
  if (!(await workspaces.isThere(path)))
    throw new BatonError('workspace_unavailable', `The workspace ${path} is not there any more.`);
  // Looked up anew, link by link; refuses the root itself and every way out of it.
  const now = workspaces.pathOf(issue.identifier);
  if (now === path) return;
  throw new BatonError(
    'workspace_outside_root',
    `The workspace of "${issue.identifier}" was ${path} and is now ${now}.`,
  );
}
