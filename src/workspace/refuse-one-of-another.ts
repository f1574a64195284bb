import path from 'node:path';
import { BatonError } from '../core/baton-error.ts';
import { canonicalPath } from './canonical-path.ts';
import { reasonOf } from './file-system.ts';
import { checkoutFolders } from './git/checkout/checkout-record.ts';
import { readGitDirectory } from './git/read/read-git-directory.ts';
import type { WorkspaceParts } from './workspace-parts.ts';

/** For the whole process: each workspace is logged once. */
const told = new Set<string>();

/**
 * Checks an existing workspace that Baton has not filled, although workspaces are filled: somebody made it, or it is
 * from before. Baton uses it and logs that; but not when its `.git` leads to a git directory of another workspace. Two
 * agents would share branches and hooks, and the work of one would be published as that of the other.
 */
export async function refuseOneOfAnother(workspace: string, parts: WorkspaceParts): Promise<void> {
  const { settings, logger, ground } = parts;
  if (settings.strategy === 'none') return;
  const { kind, leadsTo } = await gitOf(path.join(workspace, '.git'), workspace);
  const own = [workspace, checkoutFolders(ground.places, workspace).folder];
  const others = [path.dirname(workspace), ground.places.checkouts];
  const strange = leadsTo.map(realPath).find((each) => isIn(each, others) && !isIn(each, own));
  if (strange !== undefined) throw refused(workspace, `uses ${strange}, which belongs to another workspace`);
  if (told.has(workspace)) return;
  told.add(workspace);
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
    throw refused(workspace, `has a .git that is not understood: ${reasonOf(error)}`);
  });
  if (directory === null) return { kind: 'none', leadsTo: [] };
  const { folder, common, objects } = directory;
  return { kind: folder, leadsTo: [folder, common, ...objects] };
}

function refused(workspace: string, why: string): BatonError {
  return new BatonError('workspace_unavailable', `The workspace ${workspace}, which Baton has not made, ${why}.`, {
    nextStep: `Move ${workspace} away when nothing in it is needed; a new one is made then.`,
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
