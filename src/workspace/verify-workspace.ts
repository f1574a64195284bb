import { BatonError } from '../core/baton-error.ts';
import { lookAt } from './look-at.ts';
import { workspacePath } from './workspace-path.ts';

/**
 * Right before the launch: the agent's directory is the workspace of its issue, and it is there. A hook, or whoever else
 * writes below the root, may have put a link in its place since it was prepared, and an agent goes where a link leads.
 */
export async function verifyWorkspace(root: string, path: string, identifier: string): Promise<void> {
  // Looked up anew, link by link; refuses the root itself and every way out of it.
  const now = workspacePath(root, identifier);
  if (now !== path)
    throw new BatonError('workspace_outside_root', `The workspace of "${identifier}" was ${path} and is now ${now}.`);
  if ((await lookAt(path))?.isDirectory() !== true)
    throw new BatonError('workspace_unavailable', `The workspace ${path} is not there any more.`);
}
