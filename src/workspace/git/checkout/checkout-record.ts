import { statSync } from 'node:fs';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { hasCode } from '../../file-system.ts';
import { folderName, type GitPlaces } from '../git-places.ts';
import type { Checkout } from './checkout.ts';

/** Where Baton keeps its files for one workspace, outside of it. */
export interface CheckoutFolders {
  readonly folder: string;
  readonly record: string;
  readonly shadow: string;
  /** The agent's git directory, for the strategy `worktree`. */
  readonly git: string;
}

/** A file in the git directory of a clone that names its folder here. */
export const cloneMark = 'baton-checkout';

export function checkoutFolders(places: GitPlaces, workspace: string): CheckoutFolders {
  const folder = path.join(places.checkouts, folderName(path.basename(workspace), workspace));
  return {
    folder,
    record: path.join(folder, 'checkout.json'),
    shadow: path.join(folder, 'shadow'),
    git: path.join(folder, 'git'),
  };
}

/** A checkout with the facts that only refilling and publishing need. */
export interface CheckoutRecord extends Checkout {
  /** The commit that was checked out when the checkout was made: the base, or the tip of the continued branch. */
  readonly start: string;
  /** The last commit of someone else that Baton saw on the branch in the source, or null. No publishing ever drops it. */
  readonly found: string | null;
}

const commit = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

const schema = z.object({
  version: z.literal(1),
  workspace: z.string(),
  strategy: z.enum(['worktree', 'clone']),
  repository: z.string(),
  branch: z.string(),
  base: z.string(),
  baseCommit: commit,
  start: commit,
  found: commit.nullable(),
  published: commit.nullable(),
  objectFormat: z.enum(['sha1', 'sha256']),
  gitDir: z.string(),
  shadow: z.string(),
  borrowed: z.array(z.string()),
  excludes: z.array(z.string()),
});

/**
 * The record is written last, and renamed into its place: where it is missing, the checkout is half-made and no agent
 * has worked there. `damaged` is different: the record exists and cannot be read.
 */
export async function readRecord(file: string): Promise<CheckoutRecord | 'missing' | 'damaged'> {
  // A workspace without a repository has none, and is asked for one at each step of its run.
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return 'missing';
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'missing';
    throw error;
  }
  try {
    const written = JSON.parse(text) as Record<string, unknown>;
    // The first records have it as `lens`.
    const { version: _, ...checkout } = schema.parse({ shadow: written.lens, ...written });
    return checkout;
  } catch {
    return 'damaged';
  }
}

export async function writeRecord(file: string, checkout: CheckoutRecord): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const making = `${file}+making`;
  const handle = await open(making, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify({ version: 1, ...checkout }, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(making, file);
}
