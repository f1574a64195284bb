import { BatonError } from '../../core/baton-error.ts';
import type { PullRequest } from '../../core/pull/pull-request.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { findCommonDirectory, readBranch, readBranches } from '../../workspace/git/source/source-repository.ts';
import type { PullHost, PullHostParts } from '../pull-host.ts';
import type {
  MergeRefusal,
  MergeRequest,
  MergeResult,
  OpenedChange,
  PullFacts,
  PullRequests,
} from '../pull-requests.ts';
import { makeMerge } from './make-merge.ts';
import { observeMerge } from './observe-merge.ts';
import { identityOf } from './person-identity.ts';
import { isAncestor, mergeabilityOf, type Workbench, withWorkbench } from './workbench.ts';

/** Pull requests in the local repository that the workspaces come from; people merge there too. */
export const localHost = {
  name: 'local',
  docs: 'pull-requests.md',
  create: (parts: LocalParts): PullRequests => {
    if (parts.repo.isLocal) return new LocalPullRequests(parts);
    throw new BatonError(
      'unsupported_setting',
      `review.host: local needs a repository on this machine, and workspace.repo is ${parts.repo.shown}.`,
      { details: { key: 'review.host', repository: parts.repo.shown } },
    );
  },
} satisfies PullHost;

type LocalParts = Pick<PullHostParts, 'repo' | 'git' | 'places'>;

/** How many computed results are kept; each is for one head, base and earlier base, and never changes. */
const mostKept = 500;

type Computed = Pick<PullFacts, 'isEmpty' | 'mergeability' | 'conflicts' | 'merged'>;

/**
 * The host has no record of its own: a proposal is a branch, and Baton's row is its record. What must hold:
 *
 * - Only objects and the base reference are written. The base moves only from the commit that was expected there, in one
 *   step with the check that the branch is still where it was (`git update-ref` with old values).
 * - No work tree, index or HEAD is touched. A base that is checked out is not moved; the finished merge waits for the
 *   person's `git merge --ff-only`.
 */
class LocalPullRequests implements PullRequests {
  readonly host = localHost.name;
  readonly #parts: LocalParts;
  readonly #kept = new Map<string, Computed>();

  constructor(parts: LocalParts) {
    this.#parts = parts;
  }

  async open({ branch, base }: { readonly branch: string; readonly base: string }): Promise<OpenedChange> {
    const commits = await this.#commitsOf(await this.#common(), [branch, base]);
    const [headCommit, baseCommit] = [commits.get(branch), commits.get(base)];
    if (headCommit !== undefined && baseCommit !== undefined)
      return { hostNumber: null, url: null, headCommit, baseCommit };
    const missing = headCommit === undefined ? branch : base;
    throw new BatonError('change_missing', `The repository has no branch ${missing}.`, {
      details: { branch: missing },
    });
  }

  async findByBranch(branch: string, base: string): Promise<OpenedChange | null> {
    const commits = await this.#commitsOf(await this.#common(), [branch, base]);
    if (!commits.has(branch) || !commits.has(base)) return null;
    const found = await this.open({ branch, base });
    const isEmpty = await this.#bench((bench) => isAncestor(bench, found.headCommit, found.baseCommit));
    return isEmpty ? null : found;
  }

  async update(): Promise<void> {}

  async close(): Promise<void> {}

  async read(pulls: readonly PullRequest[], signal?: AbortSignal): Promise<readonly PullFacts[]> {
    if (pulls.length === 0) return [];
    const common = await this.#common();
    const commits = await this.#commitsOf(
      common,
      pulls.flatMap(({ branch, base }) => [branch, base]),
    );
    const usedIn = new Map<string, string | null>();
    for (const base of new Set(pulls.map((pull) => pull.base)))
      usedIn.set(base, (await readBranch(this.#parts.git, common, base)).usedIn);
    const facts: PullFacts[] = [];
    for (const pull of pulls) {
      signal?.throwIfAborted();
      const [headCommit, baseCommit] = [commits.get(pull.branch) ?? null, commits.get(pull.base) ?? null];
      const computed = baseCommit === null ? unknown : await this.#compute(pull, headCommit, baseCommit, signal);
      const checkedOutIn = usedIn.get(pull.base) ?? null;
      facts.push({ headCommit, baseCommit, checkedOutIn, isClosed: false, checks: null, reviews: [], ...computed });
    }
    return facts;
  }

  async merge(pull: PullRequest, request: MergeRequest): Promise<MergeResult> {
    const { git } = this.#parts;
    const { headCommit: head, method } = request;
    const common = await this.#common();
    const commits = await this.#commitsOf(common, [pull.branch, pull.base]);
    const [headNow, baseNow] = [commits.get(pull.branch) ?? null, commits.get(pull.base) ?? null];
    if (baseNow === null) return refused({ code: 'base_moved', baseCommit: null });
    return this.#bench(async (bench) => {
      // First: a merge that a lost daemon made, or another person, is found and not made twice.
      const seen = { head, base: pull.base, baseCommit: baseNow, earlierBase: earlierBaseOf(request) };
      await bench.refuseBomb(head);
      const done = await observeMerge(bench, seen, { git, common });
      if (done !== null) return { outcome: 'merged', commit: done.commit, method: done.method };
      if (headNow !== head) return refused({ code: 'head_moved', headCommit: headNow });
      if (baseNow !== request.baseCommit) return refused({ code: 'base_moved', baseCommit: baseNow });
      const target = await git.ask({ args: ['symbolic-ref', '-q', `refs/heads/${pull.base}`], gitDir: common });
      if (target.code === 0)
        return refused({
          code: 'protected',
          reason: `${pull.base} is another name of ${harmlessLine(target.stdout.trim())}`,
        });
      const identity = await identityOf(request, git, common);
      if (identity === null) return refused({ code: 'no_identity' });
      const made = await makeMerge(bench, { pull, base: baseNow, head, method, identity, at: request.at });
      if ('refusal' in made) return refused(made.refusal);
      await bench.keep(made.commit);
      const { usedIn } = await readBranch(git, common, pull.base);
      if (usedIn !== null) return refused({ code: 'checked_out', folder: usedIn, commit: made.commit });
      const now = { headCommit: headNow, baseCommit: baseNow, checks: null, reviews: [] };
      const objection =
        (await request.objection?.(now)) ??
        (await this.#moveBase(common, pull, { head, from: baseNow, to: made.commit }, identity));
      return objection === null ? { outcome: 'merged', commit: made.commit, method } : refused(objection);
    }, common);
  }

  /** Both references in one step: the base moves only while it and the branch are where they were. */
  async #moveBase(
    common: string,
    { number, base, branch }: PullRequest,
    { head, from, to }: { readonly head: string; readonly from: string; readonly to: string },
    { name, email }: { readonly name: string; readonly email: string },
  ): Promise<MergeRefusal | null> {
    const { git } = this.#parts;
    const stdin = `verify refs/heads/${branch}\0${head}\0update refs/heads/${base}\0${to}\0${from}\0`;
    const { code, stderr } = await git.ask({
      args: ['update-ref', '--create-reflog', '-m', `baton: merge pull request ${number}`, '--stdin', '-z'],
      gitDir: common,
      stdin,
      settings: [`user.name=${name}`, `user.email=${email}`],
    });
    if (code === 0) return null;
    const now = await this.#commitsOf(common, [branch, base]);
    const [headNow, baseNow] = [now.get(branch) ?? null, now.get(base) ?? null];
    if (baseNow !== from) return { code: 'base_moved', baseCommit: baseNow };
    if (headNow !== head) return { code: 'head_moved', headCommit: headNow };
    throw new BatonError('git_failed', `git did not move ${base}: ${harmlessLine(stderr.slice(-500))}`);
  }

  async #compute(
    pull: PullRequest,
    headNow: string | null,
    baseCommit: string,
    signal: AbortSignal | undefined,
  ): Promise<Computed> {
    const { git } = this.#parts;
    const key = [pull.headCommit, headNow ?? '', baseCommit, pull.baseCommit].join(' ');
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const common = await this.#common();
    const computed = await this.#bench(
      async (bench): Promise<Computed> => {
        const seen = { head: pull.headCommit, base: pull.base, baseCommit, earlierBase: pull.baseCommit };
        try {
          for (const each of new Set([pull.headCommit, headNow ?? pull.headCommit])) await bench.refuseBomb(each);
          const merged = await observeMerge(bench, seen, { git, common });
          if (merged !== null || headNow === null) return { ...unknown, merged };
          if (await isAncestor(bench, headNow, baseCommit)) return { ...unknown, isEmpty: true };
          return { ...unknown, ...(await mergeabilityOf(bench, headNow, baseCommit)) };
        } catch (error) {
          // Objects are missing, or git gave up: no one knows.
          if (error instanceof BatonError && ['git_failed', 'git_timeout'].includes(error.code)) return unknown;
          throw error;
        }
      },
      common,
      signal,
    );
    if (this.#kept.size >= mostKept) this.#kept.delete(this.#kept.keys().next().value ?? '');
    this.#kept.set(key, computed);
    return computed;
  }

  #common(): Promise<string> {
    return findCommonDirectory(this.#parts.git, this.#parts.repo.location);
  }

  async #bench<T>(use: (bench: Workbench) => Promise<T>, common?: string, signal?: AbortSignal): Promise<T> {
    const { git, places } = this.#parts;
    return withWorkbench({ git, scratch: places.scratch, common: common ?? (await this.#common()), signal }, use);
  }

  #commitsOf(common: string, branches: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return readBranches(this.#parts.git, common, branches);
  }
}

const unknown: Computed = { isEmpty: false, mergeability: 'unknown', conflicts: [], merged: null };

/** Only a person says that a change which repeats what the base had before is done. */
function earlierBaseOf({ by, baseCommit }: MergeRequest): string | null {
  return by.kind === 'orchestrator' ? baseCommit : null;
}

function refused(refusal: MergeRefusal): MergeResult {
  return { outcome: 'refused', refusal };
}
