import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import { deleteTree } from './delete-tree.ts';
import { lstatOrNull } from './file-system.ts';
import type { Checkout, Checkouts } from './git/checkout/checkout.ts';
import { mostNewBytes } from './git/checkout/publish-branch.ts';
import type { Git } from './git/git.ts';
import type { GitPlaces } from './git/git-places.ts';
import type { GitDirectory } from './git/read/git-directory.ts';
import { copyIndex } from './git/shadow/shadow-git.ts';
import { findRepositories } from './salvage/find-repositories.ts';
import { recordTree } from './salvage/record-tree.ts';
import { readRepositories } from './salvage/repository.ts';
import type { RemovalVisit } from './workspace.ts';

export interface CommitParts {
  readonly git: Git;
  readonly places: GitPlaces;
  readonly checkouts: Checkouts;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly mostBytes?: number;
}

/**
 * Commits what an agent left uncommitted, on the branch of its workspace (`review.auto_commit`). Returns the commit; null
 * when there is nothing to commit, or it must not be, which is logged. Never rejects. What must hold:
 *
 * - No process works in the workspace.
 * - The agent's git directory is data: no hook, filter or setting of it runs. The files are recorded byte by byte, as the
 *   salvage does, without those that `.gitignore` names.
 * - Only objects, the index and this one branch are written there, in that order, and never through a link: a crash in
 *   between leaves staged files. Work that is too large to be published is not written there either.
 * - An unfinished merge or rebase, a conflict, and a HEAD that is elsewhere are left to a person.
 */
export async function commitRest(workspace: string, visit: RemovalVisit, parts: CommitParts): Promise<string | null> {
  const { places, logger } = parts;
  const { issue, runId } = visit;
  const named = { issue_id: issue.id, issue_identifier: issue.identifier, run_id: runId, workspace };
  try {
    const checkout = await parts.checkouts.find(workspace);
    if (checkout === null) return null;
    await mkdir(places.scratch, { recursive: true });
    const scratch = await mkdtemp(path.join(places.scratch, 'commit-'));
    try {
      const commit = await commitIn(checkout, scratch, visit, parts);
      if (commit !== null) logger.info('rest_committed', { ...named, branch: checkout.branch, commit });
      return commit;
    } finally {
      await deleteTree(scratch);
    }
  } catch (error) {
    logger.warn('rest_not_committed', { ...named, error });
    return null;
  }
}

async function commitIn(
  checkout: Checkout,
  scratch: string,
  visit: RemovalVisit,
  { git, places, clock, mostBytes = mostNewBytes }: CommitParts,
): Promise<string | null> {
  const { workspace, branch, borrowed } = checkout;
  const { repositories: found } = await findRepositories(workspace);
  const own = { folder: workspace, workspace, checkout, state: path.dirname(places.scratch) };
  const repository = (await readRepositories({ found, places: own, scratch })).find((each) => each.checkout !== null);
  if (repository === undefined || repository.isLent) throw left('it has another git directory');
  const { directory } = repository;
  const { head, headReference, objectFormat } = directory;
  const reference = `refs/heads/${branch}`;
  if (headReference !== reference || head === null) throw left(`HEAD is not on ${branch}`);
  const objects = await plainPlaces(directory, reference);

  // Made next to it first: nothing is written there that is too large, or in conflict.
  const fresh = path.join(scratch, 'objects');
  for (const part of ['pack', 'info']) await mkdir(path.join(fresh, part), { recursive: true });
  const store = { objects: fresh, borrowed: [...new Set([...directory.objects, ...borrowed])] };
  const tried = { repository, workTree: workspace, scratch, store, forced: [], signal: undefined };
  const { tree, conflicts, insideNested } = await recordTree(git, tried);
  if (conflicts.length > 0) throw left('files are in conflict');
  if (insideNested.length > 0) throw left('another repository is in the place of files of the branch');
  const shadow = path.join(scratch, 'shadow');
  const call = { gitDir: shadow, ...store };
  const before = await git.run({ ...call, args: ['rev-parse', `${head}^{tree}`] });
  if (before.trim() === tree) return null;
  const args = ['hash-object', '-t', 'commit', '-w', '--stdin'];
  const stdin = commitText({ tree, parent: head, at: clock.now() }, visit);
  const commit = (await git.run({ ...call, args, stdin })).trim();
  if (commit.length !== (objectFormat === 'sha1' ? 40 : 64)) throw left('git made no commit');
  const sized = ['rev-list', '--objects', '--disk-usage', commit, `^${head}`, '--'];
  if (Number(await git.run({ ...call, args: sized })) > mostBytes)
    throw left(`it has more than ${mostBytes / 1024 ** 2} MiB, and would not be published`);
  await git.run({
    gitDir: shadow,
    objects,
    borrowed: [fresh, ...store.borrowed],
    args: ['pack-objects', '--quiet', '--revs', path.join(objects, 'pack', 'pack')],
    stdin: `${commit}\n^${head}\n`,
  });

  await putIndex(path.join(shadow, 'index'), directory.folder);
  const file = path.join(directory.common, reference);
  // As git does it: the lock is the new file.
  await writeFile(`${file}.lock`, `${commit}\n`, { flag: 'wx' });
  await rename(`${file}.lock`, file);
  return commit;
}

/** While one of these is there, a plain commit would say something else than what is going on. */
const unfinished = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply', 'BISECT_LOG'];

/** Refuses a git directory in which a write could land elsewhere. Returns its object directory. */
async function plainPlaces({ folder, common }: GitDirectory, reference: string): Promise<string> {
  if (folder !== common || (await lstatOrNull(path.join(common, 'reftable'))) !== null)
    throw left('its git directory is not as Baton made it');
  for (const name of unfinished)
    if ((await lstatOrNull(path.join(folder, name))) !== null) throw left(`${name} is there`);
  const objects = path.join(common, 'objects');
  const parents = path.dirname(reference).split('/');
  for (const place of [objects, ...parents.map((_, at) => path.join(common, ...parents.slice(0, at + 1)))]) {
    const isThere = await lstatOrNull(place);
    // A packed branch has no folder of its own.
    if (isThere === null) await mkdir(place);
    else if (!isThere.isDirectory()) throw left(`${place} is not a folder`);
  }
  for (const entry of await readdir(objects, { withFileTypes: true }))
    if (!entry.isDirectory()) throw left(`${path.join(objects, entry.name)} is not a folder`);
  return objects;
}

/** The index with exactly the committed files. Renamed, because a link in its place is not followed then. */
async function putIndex(from: string, gitDir: string): Promise<void> {
  const fresh = path.join(gitDir, 'index+baton');
  await rm(fresh, { recursive: true, force: true });
  await copyIndex(from, fresh);
  await rename(fresh, path.join(gitDir, 'index'));
}

const baton = 'Baton <baton@localhost.invalid>';

function commitText(
  { tree, parent, at }: { readonly tree: string; readonly parent: string; readonly at: number },
  { issue, runId }: RemovalVisit,
): string {
  const when = `${Math.floor(at / 1_000)} +0000`;
  return [
    `tree ${tree}`,
    `parent ${parent}`,
    `author ${baton} ${when}`,
    `committer ${baton} ${when}`,
    '',
    `Uncommitted work on ${harmlessLine(issue.identifier)}`,
    '',
    'The agent ended without a commit of these files, although it was asked for one.',
    `Baton committed them as they were (review.auto_commit), after the run ${runId ?? 'unknown'}.`,
    '',
  ].join('\n');
}

function left(reason: string): BatonError {
  return new BatonError('workspace_unavailable', `The work was left uncommitted: ${reason}.`, { details: { reason } });
}
