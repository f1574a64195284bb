import path from 'node:path';
import { BatonError } from '../core/baton-error.ts';
import { refuseWorkspaceOfAnother } from './another-daemon.ts';
import { canonicalPath } from './canonical-path.ts';
import { reasonOf } from './file-system.ts';
import { checkoutFolders } from './git/checkout/checkout-record.ts';
import { readGitDirectory } from './git/read/read-git-directory.ts';
import type { WorkspaceParts } from './workspace-parts.ts';

/** For the whole process: each workspace is logged once. */
const logged = new Set<string>();

/**
 * Checks an existing workspace that Baton did not fill although the settings say that workspaces are filled: a person
 * made it, or it is from before the settings. Baton uses it and logs that. It refuses a workspace of another daemon, and one
 * whose `.git` leads to the git directory of another one: two agents would share branches and hooks, and the work of one would be published
 * as that of the other. It also refuses it where the work has to be published: Baton publishes only branches that it made, so
 * the issue would run up to its limit.
 */
export async function checkForeignWorkspace(workspace: string, parts: WorkspaceParts): Promise<void> {
  const { settings, logger, resources, needsBranch } = parts;
  if (settings.strategy === 'none') return;
  await refuseWorkspaceOfAnother(workspace, resources.places);
  const { kind, leadsTo } = await gitOf(path.join(workspace, '.git'), workspace);
  const own = [workspace, checkoutFolders(resources.places, workspace).folder];
  const others = [path.dirname(workspace), resources.places.checkouts];
  const strange = leadsTo.map(realPath).find((each) => isIn(each, others) && !isIn(each, own));
  if (strange !== undefined) throw refused(workspace, `uses ${strange}, which belongs to another workspace`);
  if (needsBranch)
    throw new BatonError(
      'workspace_without_branch',
      `Baton did not fill the workspace ${workspace}, so it has no branch for a review (agent.after_success: review). Move it away.`,
      { details: { workspace } },
    );
  if (logged.has(workspace)) return;
  logged.add(workspace);
  logger.warn('foreign_workspace_used', {
    workspace,
    strategy: settings.strategy,
    git: kind,
  });
}

interface FoundGit {
  readonly kind: string;
  /** The places that git would use. */
  readonly leadsTo: readonly string[];
}

async function gitOf(dotGit: string, workspace: string): Promise<FoundGit> {
  const directory = await readGitDirectory(dotGit).catch((error: unknown) => {
    throw refused(workspace, `has a .git that Baton does not understand: ${reasonOf(error)}`);
  });
  if (directory === null) return { kind: 'none', leadsTo: [] };
  const { folder, common, objects } = directory;
  return { kind: folder, leadsTo: [folder, common, ...objects] };
}

function refused(workspace: string, why: string): BatonError {
  return new BatonError('workspace_unavailable', `The workspace ${workspace}, which Baton did not create, ${why}.`, {
    nextStep: `Move ${workspace} away if you do not need it. Baton then creates a new one.`,
  });
}

function isIn(file: string, folders: readonly string[]): boolean {
  return folders.map(realPath).some((folder) => file === folder || file.startsWith(`${folder}/`));
}

function realPath(file: string): string {
  try {
    return canonicalPath(file);
  } catch {
    return file;
  }
}
