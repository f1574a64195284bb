import path from 'node:path';
import { BatonError } from '../core/baton-error.ts';
import type { WorkspaceSettings } from '../core/settings.ts';
import { canonicalPath } from './canonical-path.ts';
import { type CheckoutFolders, checkoutFolders, cloneMark, readRecord } from './git/checkout/checkout-record.ts';
import type { GitPlaces } from './git/git-places.ts';
import { listWorkspaces } from './list-workspaces.ts';
import { readSmallFile } from './read-small-file.ts';
import { toBytePath } from './walk-folders.ts';

/*
 * A workspace that Baton filled belongs to one state folder: its record and the agent's git directory are there. A daemon with
 * another state folder could neither publish its branch nor save its work, so the issue would never end.
 */

/** Enough to find a root that two daemons share. A run examines its own workspace again. */
const mostExamined = 200;

const mostBytes = 10_000;

/** At the start: refuses a workspace root with workspaces of another daemon. */
export async function refuseSharedRoot(
  { root, strategy }: Pick<WorkspaceSettings, 'root' | 'strategy'>,
  places: GitPlaces,
): Promise<void> {
  if (strategy === 'none') return;
  const entries = await listWorkspaces(root).catch(() => []);
  for (const entry of entries.filter(({ state }) => state === 'whole').slice(0, mostExamined))
    await refuseWorkspaceOfAnother(entry.path, places);
}

/** Refuses a workspace whose record is in the state folder of another daemon. */
export async function refuseWorkspaceOfAnother(workspace: string, places: GitPlaces): Promise<void> {
  const folder = await folderOf(workspace);
  const own = checkoutFolders(places, workspace);
  // The name has a hash of the path of the workspace, so the folder is the same in every state folder.
  if (folder === null || path.basename(folder) !== path.basename(own.folder) || isSame(folder, own)) return;
  const record = await readRecord(path.join(folder, 'checkout.json')).catch(() => 'missing' as const);
  if (typeof record === 'string' || record.workspace !== workspace) return;
  const stateDir = path.resolve(folder, '..', '..', '..');
  const root = path.dirname(workspace);
  throw new BatonError(
    'workspace_of_another_daemon',
    `The workspace ${workspace} belongs to the daemon with the state folder ${stateDir}.`,
    {
      details: { workspace, root, state_dir: stateDir },
      nextStep: `Set another \`workspace.root\` than ${root}. If you moved the workflow file, start Baton with \`--state-dir ${stateDir}\` instead.`,
    },
  );
}

/** The folder of the record, as the files of the workspace say; an agent may have changed them. */
async function folderOf(workspace: string): Promise<string | null> {
  const link = await textOf(path.join(workspace, '.git'));
  if (link !== null) {
    const gitDir = /^gitdir: (\/.*)$/.exec(link)?.[1];
    return gitDir === undefined ? null : path.dirname(gitDir);
  }
  const named = await textOf(path.join(workspace, '.git', cloneMark));
  return named?.startsWith('/') === true ? named : null;
}

async function textOf(file: string): Promise<string | null> {
  const found = await readSmallFile(toBytePath(file), mostBytes).catch(() => null);
  return found?.text == null ? null : Buffer.from(found.text, 'latin1').toString('utf8').trimEnd();
}

function isSame(folder: string, own: CheckoutFolders): boolean {
  try {
    return canonicalPath(folder) === canonicalPath(own.folder);
  } catch {
    return folder === own.folder;
  }
}
