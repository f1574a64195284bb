import { rename } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import type { PullRequest } from '../../core/pull/pull-request.ts';
import { deleteTree } from '../../workspace/delete-tree.ts';
import { lstatOrNull } from '../../workspace/file-system.ts';
import { writeBareRepository } from '../../workspace/git/bare-repository.ts';
import type { Git } from '../../workspace/git/git.ts';
import { keptBaseOf } from '../../workspace/git/source/home-repository.ts';
import { findCommonDirectory, readBranch } from '../../workspace/git/source/source-repository.ts';
import { observeMerge } from '../local/observe-merge.ts';
import { isAncestor, mergeabilityOf, type Workbench, withWorkbench } from '../local/workbench.ts';
import type { PullHostParts } from '../pull-host.ts';
import type { ProposedChange, PullFacts } from '../pull-requests.ts';
import type { GithubBranches } from './github-branches.ts';
import { githubHostErrors } from './github-host-errors.ts';
import { type HostSays, nameOf, type PullRecord } from './pull-record.ts';

type Computed = Pick<PullFacts, 'isEmpty' | 'mergeability' | 'conflicts' | 'merged'>;

/** How many computed results are kept; each is for the same commits, and never changes. */
const mostKept = 500;

/**
 * What GitHub does not say and the commits do: the files in conflict, whether a head is behind or empty, how it was
 * merged. Commits that only GitHub has are fetched once, and come into the repository on this machine as objects, where
 * the diff of the change is read. Where a commit cannot be fetched, GitHub's word alone counts. And it brings the head of a
 * change to GitHub.
 */
export class GithubObjects {
  readonly #parts: PullHostParts & { readonly branches: GithubBranches };
  readonly #kept = new Map<string, Computed>();

  constructor(parts: PullHostParts & { readonly branches: GithubBranches }) {
    this.#parts = parts;
  }

  /** The commits of those branches that GitHub has. */
  tips(branches: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#parts.branches.tips(branches);
  }

  /** Brings the head of the local branch to GitHub, where it is not there yet. Returns the head at GitHub. */
  async bringHead({ branch, earlierHeads = [] }: ProposedChange, there: string | null): Promise<string> {
    const { git, places, review, repo, branches } = this.#parts;
    const common = await findCommonDirectory(git, repo.location);
    const { commit } = await readBranch(git, common, branch);
    if (commit === null || commit === there) {
      if (there !== null) return there;
      throw missing(branch);
    }
    return withWorkbench({ git, scratch: places.scratch, common, known: [commit] }, async (bench) => {
      if (there !== null && (await bench.ask(['cat-file', '-e', there])).code !== 0)
        await branches.fetch(bench, [there]);
      // Others went on from here.
      if (there !== null && (await isAncestor(bench, commit, there))) return there;
      if (!review.push)
        throw new BatonError(
          githubHostErrors.change_not_pushed,
          `${branch} at ${commit} is not on GitHub, and Baton does not push (review.push: false).`,
          { details: { branch, commit, found: there } },
        );
      try {
        await branches.push(bench, { branch, commit, from: there, earlierHeads });
      } catch (error) {
        // Another daemon may have pushed the same commit a moment before.
        if ((await branches.tips([branch])).get(branch) !== commit) throw error;
      }
      return commit;
    });
  }

  /** As `RemoteHost.fetchBase`. */
  async fetchBase(base: string | null, signal?: AbortSignal): Promise<string> {
    const { git, places, repo, branches } = this.#parts;
    const isOwn = path.dirname(repo.location) === places.caches;
    if (isOwn) await makeHome(repo.location);
    const common = await findCommonDirectory(git, repo.location);
    const name = base ?? (isOwn ? await branches.defaultBranch(signal) : await currentBranch(git, common));
    const commit = (await branches.tips([name], signal)).get(name);
    if (commit === undefined) throw missing(name, 'is not on GitHub');
    if (!(await present(common, [commit], this.#parts)).has(commit))
      await withWorkbench({ git, scratch: places.scratch, common, signal }, async (bench) => {
        await branches.fetch(bench, [commit]);
        await bench.keep(commit);
      });
    await this.#keepBase(name, commit, common);
    // In a repository of a person their own branch stays.
    if (isOwn) await git.run({ args: ['update-ref', `refs/heads/${name}`, commit], gitDir: common });
    return name;
  }

  async compute(pull: PullRequest, record: PullRecord, says: HostSays, signal?: AbortSignal): Promise<Computed> {
    const { headCommit, baseCommit } = says;
    const seen = [pull.headCommit, headCommit, baseCommit, record.baseRefName];
    const key = [...seen, record.merged, record.mergeCommit?.oid].join(' ');
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    try {
      const computed = await this.#fromObjects(pull, record, says, signal);
      if (this.#kept.size >= mostKept) this.#kept.delete(this.#kept.keys().next().value ?? '');
      this.#kept.set(key, computed);
      return computed;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof BatonError)) throw error;
      this.#parts.logger.warn('pull_not_examined', { pull_request: record.number, error });
      return byWord(record);
    }
  }

  async #fromObjects(
    pull: PullRequest,
    record: PullRecord,
    { headCommit, baseCommit }: HostSays,
    signal: AbortSignal | undefined,
  ): Promise<Computed> {
    const { git, places, repo, branches } = this.#parts;
    const common = await findCommonDirectory(git, repo.location);
    const mergedHead = record.merged ? record.headRefOid : null;
    const wanted = [headCommit, baseCommit, mergedHead].filter((commit) => commit !== null);
    const there = await present(common, [...wanted, pull.headCommit, pull.baseCommit], this.#parts);
    const parts = { git, scratch: places.scratch, common, known: [...there], signal };
    return withWorkbench(parts, async (bench) => {
      const missing = [...new Set(wanted)].filter((commit) => !there.has(commit));
      if (missing.length > 0) {
        await branches.fetch(bench, missing);
        for (const commit of missing) await bench.refuseBomb(commit);
        for (const commit of missing) await bench.keep(commit);
      }
      if (baseCommit !== null) await this.#keepBase(record.baseRefName, baseCommit, common);
      if (record.merged) return { ...byWord(record), merged: await this.#mergeOf(bench, record, baseCommit, common) };
      if (headCommit === null || baseCommit === null) return byWord(record);
      await this.#follow(bench, pull, headCommit, common);
      await bench.refuseBomb(headCommit);
      if (await isAncestor(bench, headCommit, baseCommit)) return { ...unknown, isEmpty: true };
      return { ...unknown, ...(await mergeabilityOf(bench, headCommit, baseCommit)) };
    });
  }

  /** An agent that rebases its branch fetches the base from here; the person's own branch may be behind. */
  async #keepBase(base: string, commit: string, common: string): Promise<void> {
    await this.#parts.git.run({ args: ['update-ref', keptBaseOf(base), commit], gitDir: common });
  }

  async #mergeOf(
    bench: Workbench,
    record: PullRecord,
    baseCommit: string | null,
    common: string,
  ): Promise<PullFacts['merged']> {
    const byHost = byWord(record).merged;
    if (baseCommit === null || byHost === null) return byHost;
    const seen = { head: record.headRefOid, base: record.baseRefName, baseCommit, earlierBase: null };
    const found = await observeMerge(bench, seen, { git: this.#parts.git, common });
    return { ...byHost, method: found?.method ?? null };
  }

  /**
   * The branch on this machine follows the one at GitHub that others moved, so that the next run starts from their
   * commits. It moves only from the head in review or forward, and not while a worktree has it.
   */
  async #follow(bench: Workbench, pull: PullRequest, head: string, common: string): Promise<void> {
    const { git } = this.#parts;
    const { commit, usedIn } = await readBranch(git, common, pull.branch);
    if (commit === null || commit === head || usedIn !== null || head === pull.headCommit) return;
    if (commit !== pull.headCommit && !(await isAncestor(bench, commit, head))) return;
    const args = ['update-ref', '--create-reflog', '-m', 'baton: moved on GitHub', `refs/heads/${pull.branch}`];
    const settings = ['user.name=Baton', 'user.email=baton@localhost.invalid'];
    // Another program that moves it at the same moment wins.
    await git.ask({ args: [...args, head, commit], gitDir: common, settings });
  }
}

async function makeHome(folder: string): Promise<void> {
  if ((await lstatOrNull(folder)) !== null) return;
  const making = `${folder}+making`;
  await deleteTree(making);
  await writeBareRepository({ folder: making, objectFormat: 'sha1' });
  await rename(making, folder);
}

async function currentBranch(git: Git, common: string): Promise<string> {
  const { code, stdout } = await git.ask({ args: ['symbolic-ref', '--short', 'HEAD'], gitDir: common });
  const name = Buffer.from(stdout, 'latin1').toString('utf8').trim();
  if (code === 0 && name !== '') return name;
  throw new BatonError('repository_unavailable', `No branch is checked out in ${common}.`, {
    nextStep: 'Set `workspace.base` to the branch that changes go into.',
    details: { repository: common, problem: 'detached_head' },
  });
}

export function missing(branch: string, what = 'is not there'): BatonError {
  return new BatonError('change_missing', `The branch ${branch} ${what}.`, { details: { branch } });
}

const unknown: Computed = { isEmpty: false, mergeability: 'unknown', conflicts: [], merged: null };

const mergeable = { MERGEABLE: 'clean', CONFLICTING: 'conflict', UNKNOWN: 'unknown' } as const;

function byWord(record: PullRecord): Computed {
  const commit = record.mergeCommit?.oid ?? record.headRefOid;
  const merged = record.merged ? { commit, by: nameOf(record.mergedBy), method: null } : null;
  return { ...unknown, mergeability: record.state === 'OPEN' ? mergeable[record.mergeable] : 'unknown', merged };
}

/** Those of the commits that the repository has, with their history. */
async function present(
  common: string,
  commits: readonly string[],
  { git }: PullHostParts,
): Promise<ReadonlySet<string>> {
  const stdin = [...new Set(commits)].map((commit) => `${commit}^{commit}\n`).join('');
  const out = await git.run({ args: ['cat-file', '--batch-check=%(objectname)'], gitDir: common, stdin });
  return new Set(out.split('\n').filter((line) => /^[0-9a-f]+$/.test(line)));
}
