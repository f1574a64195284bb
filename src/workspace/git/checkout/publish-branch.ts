import { mkdir, mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../../core/baton-error.ts';
import { governingFiles } from '../../../core/run/governing-files.ts';
import type { Publication, PublicationRefusal, WorkElsewhere } from '../../../core/run/run-evidence.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import { deleteTree } from '../../delete-tree.ts';
import { reasonOf } from '../../file-system.ts';
import { writeBareRepository } from '../bare-repository.ts';
import { type Git, quietFetch } from '../git.ts';
import type { GitDirectory } from '../read/git-directory.ts';
import { placeOutside } from '../read/place-outside.ts';
import { readGitDirectory } from '../read/read-git-directory.ts';
import { refuseTreeBomb } from '../shadow/refuse-tree-bomb.ts';
import { keptBaseOf } from '../source/home-repository.ts';
import { type BranchState, findCommonDirectory, readBranch } from '../source/source-repository.ts';
import type { Checkout } from './checkout.ts';
import type { CheckoutRecord } from './checkout-record.ts';

/**
 * Publishes the branch of a workspace to the local repository it came from. What must hold:
 *
 * - Only objects and this one reference are written; the person's files, index, HEAD and other branches stay unchanged.
 * - An agent's objects are checked (`fsck`) before they enter, and all of them are there before the branch moves.
 * - The branch moves only from the commit that Baton saw there last, or forward over commits of another person. It
 *   never loses commits that were in it when the workspace was made, or that others pushed since, and never goes back.
 *   An agent that rewrote its own
 *   commits replaces those that Baton published before; the earlier commit is in the log and in the branch's reflog.
 * - A branch that is checked out in a worktree of the person is not moved.
 */
export interface PublishParts {
  readonly git: Git;
  readonly scratch: string;
  /** The names of the file that governs the agents: its own, and that of the file it links to. */
  readonly workflowNames: readonly string[];
}

/** The result, and the new values for the record: the commit that the source has now, and the last one of someone else. */
export interface PublishResult {
  /** Null where Baton does not publish the branch. */
  readonly publication: Publication | null;
  readonly published: string | null;
  readonly found: string | null;
}

/** A list of changed files beyond these bounds is no work on one issue. */
const governingMs = 20_000;
const governingBytes = 16 * 1024 * 1024;

/** The commits of a branch, checked and with their objects in the repository, on the way there, or refused. */
export interface CopiedCommits {
  readonly commit: string;
  readonly copied: Promise<Copied>;
}

interface Copied {
  readonly objection: Objection | null;
  readonly governing?: Pick<Publication, 'governing'>;
  /** Resolves when the folder that was used for it is gone; no branch has to wait for that. */
  readonly cleared: Promise<void>;
}

/**
 * Begins the long part of a publication, so that it can happen while the workspace is examined. No branch moves: what
 * decides about that is read by `publishBranch`. Null where nothing is to be published.
 */
export async function beginToCopy(
  checkout: CheckoutRecord,
  directory: GitDirectory,
  parts: PublishParts,
): Promise<CopiedCommits | null> {
  const { branch, baseCommit, published, start } = checkout;
  if (!path.isAbsolute(checkout.repository) || directory.folder !== checkout.gitDir) return null;
  const agents = await unlessStrange(directory, checkout);
  const commit = 'reason' in agents ? null : commitOf(agents, branch);
  if ('reason' in agents || commit === null || [baseCommit, published, start].includes(commit)) return null;
  const copied = copyChecked(agents, commit, checkout, parts);
  // A publication of this commit tries again.
  copied.catch(() => {});
  return { commit, copied };
}

export async function publishBranch(
  checkout: CheckoutRecord,
  parts: PublishParts,
  begun: CopiedCommits | null = null,
): Promise<PublishResult> {
  const { branch, base, published, found, baseCommit, start } = checkout;
  // Other kinds of source are the agent's to push to.
  if (!path.isAbsolute(checkout.repository)) return { publication: null, published, found };
  // Commits are on their way, so the branch will be asked for.
  const reading = begun === null ? null : readSource(checkout, parts.git);
  reading?.catch(() => {});
  const agents = await readOwn(checkout);
  const isReadable = !('reason' in agents);
  const commit = isReadable ? commitOf(agents, branch) : null;
  const elsewhere = isReadable ? await findWorkElsewhere(agents, commit, checkout, parts.git) : null;
  const seen = { branch, base, commit, before: null, reason: null, elsewhere };
  const refused = (why: Objection): PublishResult => ({
    publication: { ...seen, outcome: 'refused', ...why },
    published,
    found,
  });
  if (!isReadable) return refused(agents);
  if (commit === null)
    return refused({ code: 'branch_gone', reason: `the workspace no longer has the branch ${branch}` });
  if (commit === baseCommit) return { publication: { ...seen, outcome: 'nothing' }, published, found };
  try {
    if (commit === published || commit === start) {
      const governing = await readGoverning(checkout, commit, parts);
      return { publication: { ...seen, outcome: 'nothing', ...governing }, published, found };
    }
    // Copied again where that failed, or the branch has moved since.
    const early = begun?.commit === commit ? begun.copied : null;
    const [state, copied] = await Promise.all([
      reading ?? readSource(checkout, parts.git),
      (await early?.catch(() => null)) ?? copyChecked(agents, commit, checkout, parts),
    ]);
    const { before, objection, governing } = await bring(state, copied, commit, checkout, parts);
    await copied.cleared;
    if (objection !== null) return refused(objection);
    const publication = { ...seen, outcome: 'published', before, ...governing } as const;
    return { publication, published: commit, found: before === null || before === published ? found : before };
  } catch (error) {
    return refused({ code: 'failed', reason: reasonOf(error) });
  }
}

/** The object directories that have the agent's commits and everything that they build on. */
function objectsOf({ objects }: GitDirectory, { borrowed }: CheckoutRecord): readonly string[] {
  return [...new Set([...objects, ...borrowed])];
}

/**
 * The governing files that the branch changed, wherever its base is by now; null when they cannot be read. With `agents`
 * the commit is still only there.
 */
async function readGoverning(
  checkout: CheckoutRecord,
  commit: string,
  { git, workflowNames }: PublishParts,
  agents?: GitDirectory,
): Promise<Pick<Publication, 'governing'>> {
  try {
    const names = await git.run({
      args: [
        'diff-tree',
        '-r',
        '-z',
        '--name-only',
        '--no-renames',
        '--merge-base',
        `refs/heads/${checkout.base}`,
        commit,
        '--',
      ],
      gitDir: await findCommonDirectory(git, checkout.repository),
      readsAgents: true,
      ...(agents === undefined ? {} : { borrowed: objectsOf(agents, checkout) }),
      timeoutMs: governingMs,
      maxOutputBytes: governingBytes,
    });
    const governing = governingFiles(
      Buffer.from(names, 'latin1').toString().split('\0').filter(Boolean),
      workflowNames,
    );
    return governing.length === 0 ? {} : { governing };
  } catch {
    return { governing: null };
  }
}

/** Why a branch stays where it is. */
interface Objection {
  readonly code: PublicationRefusal;
  readonly reason: string;
}

/** The agent's git directory, or why nothing can be published from there. */
async function readOwn(checkout: CheckoutRecord): Promise<GitDirectory | Objection> {
  const agents = await readGitDirectory(checkout.gitDir).catch(whyUnreadable);
  if (agents === null) return { code: 'git_directory_gone', reason: 'the workspace no longer has a git directory' };
  return 'reason' in agents ? agents : unlessStrange(agents, checkout);
}

async function unlessStrange(agents: GitDirectory, checkout: CheckoutRecord): Promise<GitDirectory | Objection> {
  const strange = await placeOutside(agents, [checkout.workspace, checkout.gitDir], checkout.borrowed);
  if (strange === null) return agents;
  return {
    code: 'git_directory_strange',
    reason: `the git directory of the workspace uses files outside of it: ${strange}`,
  };
}

/** Any other error is not caused by the agent. */
function whyUnreadable(error: unknown): Objection {
  if (!(error instanceof BatonError) || error.code !== 'workspace_unavailable') throw error;
  return { code: 'git_directory_unreadable', reason: error.message };
}

function commitOf({ head, headReference, tips }: GitDirectory, branch: string): string | null {
  const reference = `refs/heads/${branch}`;
  if (headReference === reference && head !== null) return head;
  return tips.find(({ name }) => name === reference)?.id ?? null;
}

interface Brought {
  /** Where the branch was before; null when it was not there. */
  readonly before: string | null;
  /** Null when it moved. */
  readonly objection: Objection | null;
  readonly governing?: Pick<Publication, 'governing'> | undefined;
}

/** The local repository, and where it has the branch now. */
async function readSource({ repository, branch }: CheckoutRecord, git: Git): Promise<SourceState> {
  const common = await findCommonDirectory(git, repository);
  return { common, ...(await readBranch(git, common, branch)) };
}

interface SourceState extends BranchState {
  readonly common: string;
}

async function bring(
  { common, commit: before, usedIn }: SourceState,
  { objection: unusable, governing }: Copied,
  commit: string,
  checkout: CheckoutRecord,
  parts: PublishParts,
): Promise<Brought> {
  const { branch, base, published } = checkout;
  // The branch was published and the daemon ended before it could record that.
  if (before === commit)
    return {
      before: published,
      objection: null,
      governing: governing ?? (await readGoverning(checkout, commit, parts)),
    };
  if (usedIn !== null) {
    return { before, objection: { code: 'checked_out', reason: `${branch} is checked out in ${usedIn}` } };
  }
  // A name may come from the title of an issue, and only a merge moves the base.
  if (branch === base) return { before, objection: { code: 'is_base', reason: `${branch} is the base itself` } };
  if (before === null && published !== null) {
    return { before, objection: { code: 'branch_deleted', reason: `${branch} was deleted in the repository` } };
  }
  const objection =
    unusable ??
    (await whyNot(checkout, commit, before, common, parts)) ??
    (await moveBranch({ branch, commit, current: before, common }, parts));
  return { before, objection, governing };
}

/**
 * Fetches the commit into the person's repository from a repository of Baton's own that borrows the agent's objects; so
 * git itself checks that every object is well-formed and nothing is missing.
 */
async function copyChecked(
  agents: GitDirectory,
  commit: string,
  checkout: CheckoutRecord,
  parts: PublishParts,
): Promise<Copied> {
  const { scratch, git } = parts;
  const common = await findCommonDirectory(git, checkout.repository);
  // Begun first, because it takes longest.
  const examined = whyUnsafe(agents, commit, checkout, common, parts);
  await mkdir(scratch, { recursive: true });
  const between = await mkdtemp(path.join(scratch, 'publish-'));
  // What cannot be removed goes with the scratch folder at the next start.
  const clear = (): Promise<void> => deleteTree(between).catch(() => {});
  try {
    const { objectFormat, objects: alternates } = agents;
    const references = { 'refs/heads/work': commit };
    await writeBareRepository({ folder: between, objectFormat, references, alternates });
    const unsafe = await examined;
    if (unsafe !== null) return { objection: unsafe, cleared: clear() };
    const [objection, governing] = await Promise.all([
      fetchFrom(between, common, git),
      readGoverning(checkout, commit, parts, agents),
    ]);
    return { objection, governing, cleared: clear() };
  } catch (error) {
    await clear();
    throw error;
  }
}

/** No work on one issue has more new commits. */
const mostNewCommits = 1_000;
/** The person's repository keeps what it gets for ever. Work of this size waits for a person, in the workspace. */
export const mostNewBytes = 100 * 1024 * 1024;

/**
 * A tree bomb in the person's repository would hang every program that reads it, also one that a later commit of the branch
 * removed again. So every commit that is new to the repository is examined.
 */
async function whyUnsafe(
  agents: GitDirectory,
  commit: string,
  checkout: CheckoutRecord,
  common: string,
  { git }: PublishParts,
): Promise<Objection | null> {
  const { branch } = checkout;
  const call = { gitDir: common, borrowed: objectsOf(agents, checkout), timeoutMs: governingMs };
  try {
    const isNew = [commit, '--not', '--all', '--'];
    // A walk visits each object once, so that a bomb does not make these long.
    const [listed, bytes] = await Promise.all([
      git.run({ ...call, args: ['rev-list', `--max-count=${mostNewCommits + 1}`, '--format=%T', ...isNew] }),
      git.run({ ...call, args: ['rev-list', '--objects', '--disk-usage', ...isNew] }),
      refuseTreeBomb(git, call, commit),
    ]);
    const lines = listed.split('\n');
    // Git follows a tag to its commit. All commits may be there already: then the branch moves to one of them.
    if (lines[0] !== '' && lines[0] !== `commit ${commit}`)
      return { code: 'not_a_commit', reason: `${branch} does not point to a commit` };
    const trees = lines.filter((line) => /^[0-9a-f]+$/.test(line));
    if (trees.length > mostNewCommits)
      return { code: 'too_many_commits', reason: `${branch} has more than ${mostNewCommits} new commits` };
    // The first is the tree of the commit itself.
    for (const tree of new Set(trees.slice(1))) await refuseTreeBomb(git, call, tree);
    if (Number(bytes) > mostNewBytes)
      return {
        code: 'too_many_bytes',
        reason: `${branch} has more than ${mostNewBytes / 1024 ** 2} MiB of new objects`,
      };
    return null;
  } catch (error) {
    return { code: 'too_many_files', reason: `Baton cannot list the files of ${branch}: ${reasonOf(error)}` };
  }
}

async function fetchFrom(between: string, common: string, git: Git): Promise<Objection | null> {
  const { code, stderr } = await git.ask({
    args: [...quietFetch, '--', between, 'refs/heads/work'],
    gitDir: common,
    settings: ['fetch.fsckObjects=true', 'fetch.writeCommitGraph=false'],
    readsAgents: true,
  });
  if (code === 0) return null;
  return { code: 'commits_unusable', reason: `git cannot fetch the commits: ${harmlessLine(stderr.slice(-500))}` };
}

/** Why the branch must not become this commit; null when it may. */
async function whyNot(
  { branch, published, found }: CheckoutRecord,
  commit: string,
  current: string | null,
  common: string,
  { git }: PublishParts,
): Promise<Objection | null> {
  const contains = async (later: string, earlier: string): Promise<boolean> =>
    (await git.ask({ args: ['merge-base', '--is-ancestor', earlier, later], gitDir: common })).code === 0;
  if (current === null) return null;
  if (await contains(commit, current)) return null;
  if (current !== published) {
    const reason = `someone else moved ${branch}, and the agent's branch lacks those commits`;
    return { code: 'moved_by_others', reason };
  }
  if (found !== null && !(await contains(commit, found))) {
    return { code: 'drops_commits', reason: `the agent's branch lacks commits that ${branch} had before` };
  }
  if (await contains(current, commit))
    return { code: 'goes_back', reason: `the agent moved ${branch} back to an earlier commit` };
  return null;
}

/** Whether the base of the local repository has a commit now; false for any other repository. */
export function isInBase(git: Git) {
  return async ({ repository, base }: Checkout, commit: string): Promise<boolean> => {
    if (!path.isAbsolute(repository)) return false;
    try {
      const gitDir = await findCommonDirectory(git, repository);
      // The base of a remote host is kept apart; the branch of the person may be behind it.
      for (const reference of [`refs/heads/${base}`, keptBaseOf(base)]) {
        const args = ['merge-base', '--is-ancestor', commit, reference];
        if ((await git.ask({ args, gitDir, timeoutMs: governingMs })).code === 0) return true;
      }
      return false;
    } catch {
      return false;
    }
  };
}

/** The commit of the branch in the local repository, when others moved it and the workspace lacks it. Never rejects. */
export async function movedByOthers(git: Git, checkout: Checkout, head: string | null): Promise<string | null> {
  const { repository, branch, published, shadow, gitDir, borrowed } = checkout;
  if (!path.isAbsolute(repository) || head === null) return null;
  try {
    const { commit } = await readBranch(git, await findCommonDirectory(git, repository), branch);
    if (commit === null || commit === published || commit === head) return null;
    const objects = (await readGitDirectory(gitDir))?.objects ?? [];
    const args = ['merge-base', '--is-ancestor', commit, head];
    const { code } = await git.ask({ args, gitDir: shadow, borrowed: [...new Set([...objects, ...borrowed])] });
    return code === 0 ? null : commit;
  } catch {
    return null;
  }
}

interface Move {
  readonly branch: string;
  readonly commit: string;
  /** Where it must be now; null: it must not be there. */
  readonly current: string | null;
  readonly common: string;
}

/** Null when the branch moved, otherwise why not: another program may have moved it since the check. */
async function moveBranch({ branch, commit, current, common }: Move, { git }: PublishParts): Promise<Objection | null> {
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
  if (code === 0) return null;
  return { code: 'not_moved', reason: `git did not move ${branch}: ${harmlessLine(stderr.slice(-500))}` };
}

/**
 * Where HEAD is, when it is not on the branch of the workspace and has commits of its own: an agent that left its
 * branch works on, and none of that is ever published. Null when the branch or its start has every commit of HEAD.
 */
async function findWorkElsewhere(
  agents: GitDirectory,
  commit: string | null,
  checkout: CheckoutRecord,
  git: Git,
): Promise<WorkElsewhere | null> {
  const { head, headReference } = agents;
  const { branch, baseCommit, start, shadow } = checkout;
  const known = [baseCommit, start, ...(commit === null ? [] : [commit])];
  if (head === null || headReference === `refs/heads/${branch}` || known.includes(head)) return null;
  const call = {
    // A known commit that the agent's git has dropped since excludes nothing.
    args: ['rev-list', '--ignore-missing', '--max-count=1', head, '--not', ...known],
    gitDir: shadow,
    borrowed: objectsOf(agents, checkout),
  };
  // Commits that cannot be counted count as work, and do not prevent the publication of the branch.
  const own = await git.run(call).catch(() => 'unknown');
  if (own.trim() === '') return null;
  return { branch: headReference?.replace(/^refs\/heads\//, '') ?? null, commit: head };
}
