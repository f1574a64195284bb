import { link, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../../core/baton-error.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import { hasCode } from '../../file-system.ts';
import type { Checkout } from '../checkout/checkout.ts';
import type { Git, GitCall } from '../git.ts';
import type { GitPlaces } from '../git-places.ts';
import type { GitDirectory } from '../read/git-directory.ts';
import { placeOutside } from '../read/place-outside.ts';
import { refuseOddRules } from './refuse-odd-rules.ts';
import { refuseTreeBomb } from './refuse-tree-bomb.ts';
import { copyIndex, type ShadowGit, setShadow, through } from './shadow-git.ts';

export interface LookParts {
  readonly git: Git;
  readonly places: GitPlaces;
  /** The checkout record of the workspace, when Baton filled it. */
  readonly checkout: Checkout | null;
  /** How long git may take for one call. */
  readonly timeoutMs?: number;
}

export interface Look {
  readonly shadow: ShadowGit;
  /** The settings of every git call in this examination. */
  readonly call: Omit<GitCall, 'args'>;
}

/** An agent can make git wait for ever, with a pipe in place of a file; after this time there are no facts. */
const lookTimeoutMs = 60_000;

/**
 * Git records the times of files in seconds, and reads files again that changed in the second of its index. An index is
 * only reliable if it was written later than that, so only such an index is kept.
 */
const surelyLaterMs = 2_000;

/**
 * Provides a shadow git directory whose index is exactly the agent's HEAD, and removes it afterwards. Each examination
 * has its own, so that any number can run at once without affecting each other. For a workspace that Baton
 * filled, the index starts as a copy of the checkout's, so that unchanged files need not be read; it is kept next to
 * the checkout's index for the next examination. Rejects when the agent's git directory leads to another repository: what
 * is read there is shown, also to agents, from which it may be hidden.
 */
export async function withShadow<T>(
  workspace: string,
  directory: GitDirectory,
  parts: LookParts,
  use: (look: Look) => Promise<T>,
): Promise<T> {
  const { places, checkout } = parts;
  const { head, objectFormat, shallow } = directory;
  if (checkout !== null) {
    const strange = await placeOutside(directory, [workspace, checkout.gitDir], checkout.borrowed);
    if (strange !== null)
      throw new BatonError(
        'workspace_unavailable',
        `The workspace uses files outside of it: ${harmlessLine(strange)}.`,
      );
  }
  const checked = refuseOddRules(workspace);
  checked.catch(() => {});
  await mkdir(places.scratch, { recursive: true });
  const folder = await mkdtemp(path.join(places.scratch, 'look-'));
  try {
    const shadow = await setShadow({ folder, head, objectFormat, shallow, excludes: checkout?.excludes ?? [] });
    await checked;
    const call = {
      ...through(shadow, workspace),
      borrowed: [...new Set([...directory.objects, ...(checkout?.borrowed ?? [])])],
      // Files of an examination need not survive a crash.
      settings: ['core.fsync=none'],
      timeoutMs: parts.timeoutMs ?? lookTimeoutMs,
    };
    const look = { shadow, call };
    if (head !== null) await fillIndex(head, look, parts);
    return await use(look);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fillIndex(head: string, { shadow, call }: Look, { git, checkout }: LookParts): Promise<void> {
  if (checkout === null) {
    await refuseTreeBomb(git, call, head);
    await git.run({ ...call, args: ['read-tree', head] });
    return;
  }
  const kept = path.join(checkout.shadow, 'looked', head);
  if (await succeedsIfThere(() => link(kept, shadow.indexFile))) return;
  if (head !== checkout.baseCommit) await refuseTreeBomb(git, call, head);
  const first = path.join(checkout.shadow, 'index');
  const isThere = await succeedsIfThere(() => copyIndex(first, shadow.indexFile));
  // Entries that are the same in both commits keep their facts.
  const moved = isThere && (await git.ask({ ...call, args: ['read-tree', '--reset', head] })).code === 0;
  if (!moved) {
    await rm(shadow.indexFile, { force: true });
    await git.run({ ...call, args: ['read-tree', head] });
  } else if ((await stat(shadow.indexFile)).mtimeMs - (await stat(first)).mtimeMs >= surelyLaterMs) {
    await keepIndex(shadow.indexFile, kept);
  }
}

/** Replaces the kept index atomically, and removes those kept for another HEAD. */
async function keepIndex(indexFile: string, kept: string): Promise<void> {
  const folder = path.dirname(kept);
  const fresh = path.join(folder, `+${path.basename(path.dirname(indexFile))}`);
  await mkdir(folder, { recursive: true });
  await link(indexFile, fresh);
  await rename(fresh, kept);
  for (const name of await readdir(folder)) {
    if (name !== path.basename(kept) && !name.startsWith('+')) await rm(path.join(folder, name), { force: true });
  }
}

async function succeedsIfThere(act: () => Promise<void>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}
