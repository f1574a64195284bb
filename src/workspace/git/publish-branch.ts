import { mkdir, mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/harmless-line.ts';
import type { Delivery } from '../../core/run-evidence.ts';
import { deleteTree } from '../delete-tree.ts';
import { reasonOf } from '../error-reason.ts';
import { writeBareRepository } from './bare-repository.ts';
import type { CheckoutRecord } from './checkout-record.ts';
import { findWorkElsewhere } from './find-work-elsewhere.ts';
import type { Git } from './git.ts';
import type { GitDirectory } from './git-directory.ts';
import { quietFetch } from './quiet-fetch.ts';
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
  readonly scratch: string;
}

/** What came of it, and what the record is to say from now on: the commit that the source has now. */
export interface PublishResult {
  /** Null where it is not Baton's to bring it. */
  readonly delivery: Delivery | null;
  readonly published: string | null;
}

export async function publishBranch(checkout: CheckoutRecord, parts: PublishParts): Promise<PublishResult> {
  const { branch, published, baseCommit, start } = checkout;
  // Other kinds of source are the agent's to push to.
  if (!path.isAbsolute(checkout.repository)) return { delivery: null, published };
  const agents = await readOwn(checkout);
  const commit = typeof agents === 'string' ? null : commitOf(agents, branch);
  const elsewhere = typeof agents === 'string' ? null : await findWorkElsewhere(agents, commit, checkout, parts.git);
  const seen = { branch, commit, before: null, reason: null, elsewhere };
  const refused = (reason: string): PublishResult => ({ delivery: { ...seen, outcome: 'refused', reason }, published });
  if (typeof agents === 'string') return refused(agents);
  if (commit === null) return refused(`the workspace has no branch ${branch} any more`);
  if (commit === published || commit === baseCommit || commit === start)
    return { delivery: { ...seen, outcome: 'nothing' }, published };
  try {
    const { before, objection } = await bring(agents, commit, checkout, parts);
    if (objection !== null) return refused(objection);
    return { delivery: { ...seen, outcome: 'brought', before }, published: commit };
  } catch (error) {
    return refused(reasonOf(error));
  }
}

/** The agent's git directory, or why nothing can be brought from there. */
async function readOwn(checkout: CheckoutRecord): Promise<GitDirectory | string> {
  const agents = await readGitDirectory(checkout.gitDir).catch(whyUnreadable);
  if (agents === null) return 'the workspace has no git directory any more';
  if (typeof agents === 'string') return agents;
  const strange = strangeFolder(agents, checkout);
  return strange === null ? agents : `the git directory of the workspace uses ${strange}`;
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

interface Brought {
  /** Where the branch was before; null when it was not there. */
  readonly before: string | null;
  /** Why it stays there; null when it moved. */
  readonly objection: string | null;
}

async function bring(
  agents: GitDirectory,
  commit: string,
  checkout: CheckoutRecord,
  parts: PublishParts,
): Promise<Brought> {
  const { branch, published } = checkout;
  const common = await findCommonDirectory(parts.git, checkout.repository);
  const { commit: before, usedIn } = await readBranch(parts.git, common, branch);
  // It was brought over and the daemon ended before it could write that down.
  if (before === commit) return { before: published, objection: null };
  if (usedIn !== null) return { before, objection: `${branch} is checked out in ${usedIn}` };
  if (before === null && published !== null) return { before, objection: `${branch} was deleted in the repository` };
  const objection =
    (await bringObjects(agents, commit, common, parts)) ??
    (await whyNot(checkout, commit, before, common, parts)) ??
    (await moveBranch({ branch, commit, current: before, common }, parts));
  return { before, objection };
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
    const { code, stderr } = await git.ask({
      args: [...quietFetch, '--', between, 'refs/heads/work'],
      gitDir: common,
      settings: ['fetch.fsckObjects=true', 'fetch.writeCommitGraph=false'],
      readsAgents: true,
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
async function moveBranch({ branch, commit, current, common }: Move, { git }: PublishParts): Promise<string | null> {
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
  return code === 0 ? null : `git did not move ${branch}: ${harmlessLine(stderr.slice(-500))}`;
}
