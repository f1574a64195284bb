import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { git } from '../../workspace/git/scratch-repository.ts';

export type Conclusion = 'SUCCESS' | 'FAILURE' | 'TIMED_OUT' | 'CANCELLED' | 'SKIPPED' | 'NEUTRAL' | 'ACTION_REQUIRED';

export interface ForgeCheck {
  readonly id: number;
  readonly name: string;
  conclusion: Conclusion | null;
  readonly isRequired: boolean;
  /** The name of the step that failed, and its log. */
  step: string;
  log: string;
}

export interface ForgeComment {
  readonly path: string;
  readonly line: number | null;
  readonly body: string;
}

export interface ForgeReview {
  readonly id: string;
  readonly author: string;
  readonly canPush: boolean;
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED';
  readonly body: string;
  readonly commit: string;
  readonly at: number;
  readonly comments: readonly ForgeComment[];
}

/** A comment in the conversation of a pull request. */
export interface ForgeRemark {
  readonly id: string;
  readonly author: string;
  readonly association: 'OWNER' | 'MEMBER' | 'COLLABORATOR' | 'CONTRIBUTOR' | 'NONE';
  readonly body: string;
  readonly at: number;
}

export interface ForgePull {
  readonly number: number;
  title: string;
  body: string;
  state: 'OPEN' | 'CLOSED' | 'MERGED';
  isDraft: boolean;
  author: string;
  /** Whose repository the branch is in. */
  readonly owner: string;
  readonly branch: string;
  base: string;
  headOid: string;
  mergeCommit: string | null;
  mergedBy: string | null;
  closedBy: string | null;
  labels: string[];
  reviewers: string[];
  reviews: ForgeReview[];
  comments: ForgeRemark[];
}

/** The state of the repository at GitHub, and what people do there. */
export interface Forge {
  /** The bare repository. */
  readonly repository: string;
  readonly pulls: ForgePull[];
  tip(branch: string): string | null;
  /** Follows the branches, as GitHub does after each push. */
  settle(): void;
  open(pull: Pick<ForgePull, 'title' | 'body' | 'branch' | 'base' | 'isDraft'>): ForgePull;
  /** Null: done. Otherwise why GitHub refuses. */
  merge(number: number, method: 'merge' | 'squash' | 'rebase', by: string, sha?: string): MergeRefusal | null;
  close(number: number, by: string): void;
  reopen(number: number): void;
  retarget(number: number, base: string): void;
  /** The checks of a commit. */
  checksOf(commit: string): ForgeCheck[];
  addCheck(commit: string, name: string, conclusion: Conclusion | null, isRequired?: boolean): ForgeCheck;
  addReview(number: number, review: Partial<ForgeReview> & Pick<ForgeReview, 'author' | 'state'>): ForgeReview;
  addComment(number: number, comment: Pick<ForgeRemark, 'author' | 'association' | 'body'>): void;
  protect(...branches: readonly string[]): void;
  /** Why GitHub refuses every merge; null: it does not. And the types of its rules for branches that begin with `prefix`. */
  readonly rules: { merge: string | null; branches: readonly string[]; prefix: string };
}

export interface MergeRefusal {
  readonly status: 405 | 409;
  readonly message: string;
}

export function createForge(repository: string, now: () => number): Forge {
  const pulls: ForgePull[] = [];
  const checks = new Map<string, ForgeCheck[]>();
  let lastId = 1_000;
  const nextId = (): number => {
    lastId += 1;
    return lastId;
  };
  const tip = (branch: string): string | null => {
    const found = git(repository, 'for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`);
    return found === '' ? null : found;
  };
  const isAncestor = (earlier: string, later: string): boolean => {
    try {
      git(repository, 'merge-base', '--is-ancestor', earlier, later);
      return true;
    } catch {
      return false;
    }
  };
  const settle = (): void => {
    for (const pull of pulls.filter(({ state, owner }) => state === 'OPEN' && owner === 'acme')) {
      const [head, base] = [tip(pull.branch), tip(pull.base)];
      if (head === null || base === null) {
        Object.assign(pull, { state: 'CLOSED', closedBy: 'someone' });
      } else if (isAncestor(head, base)) {
        const isMerged = head === pull.headOid;
        Object.assign(
          pull,
          isMerged ? { state: 'MERGED', mergedBy: 'pusher', mergeCommit: head } : { state: 'CLOSED' },
        );
        pull.headOid = head;
      } else pull.headOid = head;
    }
  };
  const named = (number: number): ForgePull => {
    const pull = pulls.find((each) => each.number === number);
    if (pull === undefined) throw new Error(`no pull request ${number}`);
    return pull;
  };
  const forge: Forge = {
    repository,
    pulls,
    tip,
    settle,
    rules: { merge: null, branches: [], prefix: '' },
    open: (draft) => {
      const headOid = tip(draft.branch) ?? '';
      const nothing = {
        mergeCommit: null,
        mergedBy: null,
        closedBy: null,
        labels: [],
        reviewers: [],
        reviews: [],
        comments: [],
      };
      const pull: ForgePull = {
        ...draft,
        author: 'someone',
        owner: 'acme',
        number: pulls.length + 1,
        state: 'OPEN',
        headOid,
        ...nothing,
      };
      pulls.push(pull);
      return pull;
    },
    merge: (number, method, by, sha) => {
      settle();
      const pull = named(number);
      const [head, base] = [tip(pull.branch), tip(pull.base)];
      if (pull.state !== 'OPEN' || head === null || base === null)
        return { status: 405, message: 'Pull Request is not mergeable' };
      if (sha !== undefined && sha !== head)
        return { status: 409, message: 'Head branch was modified. Review and try the merge again.' };
      if (pull.isDraft) return { status: 405, message: 'Pull Request is still a draft' };
      if (forge.rules.merge !== null) return { status: 405, message: forge.rules.merge };
      const commit = mergeInto(repository, { base, head, method, title: pull.title, by });
      if (commit === null) return { status: 405, message: 'Pull Request has merge conflicts' };
      git(repository, 'update-ref', `refs/heads/${pull.base}`, commit, base);
      Object.assign(pull, { state: 'MERGED', mergeCommit: commit, mergedBy: by, headOid: head });
      return null;
    },
    close: (number, by) => {
      const pull = named(number);
      if (pull.state === 'OPEN') Object.assign(pull, { state: 'CLOSED', closedBy: by });
    },
    reopen: (number) => {
      const pull = named(number);
      if (pull.state === 'CLOSED') Object.assign(pull, { state: 'OPEN', closedBy: null });
    },
    retarget: (number, base) => void Object.assign(named(number), { base }),
    checksOf: (commit) => checks.get(commit) ?? [],
    addCheck: (commit, name, conclusion, isRequired = false) => {
      const check = { id: nextId(), name, conclusion, isRequired, step: `Run ${name}`, log: '' };
      checks.set(commit, [...(checks.get(commit) ?? []), check]);
      return check;
    },
    addReview: (number, given) => {
      const pull = named(number);
      const usual = { canPush: true, body: '', commit: pull.headOid, at: now(), comments: [] };
      const review = { id: `PRR_${nextId()}`, ...usual, ...given };
      pull.reviews.push(review);
      return review;
    },
    addComment: (number, given) => void named(number).comments.push({ id: `IC_${nextId()}`, at: now(), ...given }),
    protect: (...branches) =>
      writeFileSync(path.join(repository, 'protected'), branches.map((each) => `refs/heads/${each}\n`).join('')),
  };
  return forge;
}

interface Merge {
  readonly base: string;
  readonly head: string;
  readonly method: 'merge' | 'squash' | 'rebase';
  readonly title: string;
  readonly by: string;
}

/** The new commit of the base; null: they conflict. */
function mergeInto(repository: string, { base, head, method, title, by }: Merge): string | null {
  const who = ['-c', `user.name=${by}`, '-c', `user.email=${by}@example.invalid`];
  const tree = mergedTree(repository, base, head);
  if (tree === null) return null;
  if (method !== 'rebase') {
    const parents = method === 'merge' ? ['-p', base, '-p', head] : ['-p', base];
    return git(repository, ...who, 'commit-tree', ...parents, '-m', title, tree);
  }
  const desk = mkdtempSync(path.join(path.dirname(repository), 'desk-'));
  git(repository, 'worktree', 'add', '-q', '--detach', '--force', desk, head);
  try {
    git(desk, ...who, 'rebase', '-q', '--no-ff', base);
    return git(desk, 'rev-parse', 'HEAD');
  } finally {
    git(repository, 'worktree', 'remove', '--force', desk);
  }
}

function mergedTree(repository: string, base: string, head: string): string | null {
  try {
    return git(repository, 'merge-tree', '--write-tree', base, head).split('\n')[0] ?? null;
  } catch {
    return null;
  }
}

/** Whether a head can be merged, as GitHub computes it. */
export function canMerge(repository: string, base: string, head: string): boolean {
  return mergedTree(repository, base, head) !== null;
}
