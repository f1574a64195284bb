import { mkdir, mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/harmless-line.ts';
import type { Logger } from '../../core/logger.ts';
import { deleteTree } from '../delete-tree.ts';
import { writeBareRepository } from './bare-repository.ts';
import type { Publication } from './checkout.ts';
import type { CheckoutRecord } from './checkout-record.ts';
import type { Git } from './git.ts';
import type { GitDirectory } from './git-directory.ts';
import { readGitDirectory } from './read-git-directory.ts';
import { findCommonDirectory, readBranch } from './source-repository.ts';
import { strangeFolder } from './strange-folder.ts';

/**
 * Brings the branch of a workspace into the local repository it came from. What must hold:
 *
 * - Only objects and this one reference are written; the person's files, index, HEAD and other branches stay as they are.
 * - What an agent made is checked (`fsck`) before it enters, and all that belongs to it is there before the branch moves.
 * - The branch moves only from the commit that Baton saw there last, or forward over what somebody else put there. It
 *   never loses what was in it when the workspace was made, and never goes back. An agent that rewrote its own commits
 *   replaces those that Baton brought before; the earlier commit is in the log and in the branch's reflog.
 * - A branch that somebody has checked out is not moved under them.
 */
export interface PublishParts {
  readonly git: Git;
  readonly logger: Logger;
  readonly scratch: string;
}

/** What came of it, and what the record is to say from now on: the commit that the source has now. */
export interface PublishResult {
  readonly publication: Publication;
  readonly published: string | null;
}

export async function publishBranch(checkout: CheckoutRecord, parts: PublishParts): Promise<PublishResult> {
  const { branch, published, baseCommit, start } = checkout;
  const stays = (publication: Publication): PublishResult => ({ publication, published });
  // Other kinds of source are the agent's to push to.
  if (!path.isAbsolute(checkout.repository)) return stays({ outcome: 'nothing' });
  const agents = await readGitDirectory(checkout.gitDir).catch(whyUnreadable);
  if (agents === null) return stays(refused('the workspace has no git directory any more'));
  if (typeof agents === 'string') return stays(refused(agents));
  const strange = strangeFolder(agents, checkout);
  if (strange !== null) return stays(refused(`the git directory of the workspace uses ${strange}`));
  const commit = commitOf(agents, branch);
  if (commit === null) return stays(refused(`the workspace has no branch ${branch} any more`));
  if (commit === published || commit === baseCommit || commit === start) return stays({ outcome: 'nothing' });

  const common = await findCommonDirectory(parts.git, checkout.repository);
  const { commit: current, usedIn } = await readBranch(parts.git, common, branch);
  // It was brought over and the daemon ended before it could write that down.
  if (current === commit) return { publication: { outcome: 'published', branch, commit }, published: commit };
  if (usedIn !== null) return stays(refused(`${branch} is checked out in ${usedIn}`));
  if (current === null && published !== null) return stays(refused(`${branch} was deleted in the repository`));
  const objection =
    (await bringObjects(agents, commit, common, parts)) ?? (await whyNot(checkout, commit, current, common, parts));
  if (objection !== null) return stays(refused(objection));
  const moved = await moveBranch({ branch, commit, current, common }, parts);
  return moved === null
    ? { publication: { outcome: 'published', branch, commit }, published: commit }
    : stays(refused(moved));
}

function refused(reason: string): Publication {
  return { outcome: 'refused', reason };
}

/** As a reason. Whatever else was thrown is not the agent's doing. */
function whyUnreadable(error: unknown): string {
  if (error instanceof BatonError && error.code === 'workspace_unavailable') return error.message;
  throw error;
}

function commitOf({ head, headReference, tips }: GitDirectory, branch: string): string | null {
  const reference = `refs/heads/${branch}`;
  if (headReference === reference && head !== null) return head;
  return tips.find(({ name }) => name === reference)?.id ?? null;
}

/**
 * Fetches the commit into the person's repository from a repository of Baton's own that borrows what the agent has; so
 * git itself checks that every object is well-formed and nothing is missing. Null when that is so.
 */
async function bringObjects(
  agents: GitDirectory,
  commit: string,
  common: string,
  { git, scratch }: PublishParts,
): Promise<string | null> {
  await mkdir(scratch, { recursive: true });
  const between = await mkdtemp(path.join(scratch, 'publish-'));
  try {
    const references = { 'refs/heads/work': commit };
    await writeBareRepository({
      folder: between,
      objectFormat: agents.objectFormat,
      references,
      alternates: agents.objects,
    });
    const quiet = ['--quiet', '--no-tags', '--no-prune', '--no-write-fetch-head', '--no-auto-maintenance', '--refmap='];
    const { code, stderr } = await git.ask({
      args: ['fetch', ...quiet, '--no-recurse-submodules', '--', between, 'refs/heads/work'],
      gitDir: common,
      settings: ['fetch.fsckObjects=true', 'fetch.writeCommitGraph=false'],
    });
    return code === 0 ? null : `the commits cannot be taken over: ${harmlessLine(stderr.slice(-500))}`;
  } finally {
    await deleteTree(between);
  }
}

/** Why the branch must not become this commit; null when it may. */
async function whyNot(
  { branch, published, found }: CheckoutRecord,
  commit: string,
  current: string | null,
  common: string,
  { git }: PublishParts,
): Promise<string | null> {
  const contains = async (later: string, earlier: string): Promise<boolean> =>
    (await git.ask({ args: ['merge-base', '--is-ancestor', earlier, later], gitDir: common })).code === 0;
  const kind = await git.ask({ args: ['cat-file', '-t', commit], gitDir: common });
  if (kind.stdout.trim() !== 'commit') return `${branch} names no commit`;
  if (current === null) return null;
  if (await contains(commit, current)) return null;
  if (current !== published) return `${branch} was moved by somebody else, and its commits are not part of the work`;
  if (found !== null && !(await contains(commit, found)))
    return `commits that were in ${branch} before are not part of the work`;
  if (await contains(current, commit)) return `${branch} went back to an earlier commit`;
  return null;
}

interface Move {
  readonly branch: string;
  readonly commit: string;
  /** Where it must be now; null: it must not be there. */
  readonly current: string | null;
  readonly common: string;
}

/** Null when it moved, otherwise why not: between the look and the move somebody may have come. */
async function moveBranch({ branch, commit, current, common }: Move, parts: PublishParts): Promise<string | null> {
  const { git, logger } = parts;
  const nothing = '0'.repeat(commit.length);
  const { code, stderr } = await git.ask({
    args: [
      'update-ref',
      '--create-reflog',
      '-m',
      'baton: work of an agent',
      `refs/heads/${branch}`,
      commit,
      current ?? nothing,
    ],
    gitDir: common,
    settings: ['user.name=Baton', 'user.email=baton@localhost.invalid'],
  });
  if (code !== 0) return `git did not move ${branch}: ${harmlessLine(stderr.slice(-500))}`;
  logger.info('The branch of a workspace is in the repository.', {
    repository: common,
    branch,
    commit,
    before: current,
  });
  return null;
}
