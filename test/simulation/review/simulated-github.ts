import type { CheckResult, MergeMethod } from '../../../src/core/pull/pull-request.ts';
import type { Maker, RefMove, SimulatedRepository } from './simulated-repository.ts';

export interface SimulatedReview {
  readonly id: string;
  readonly author: string;
  readonly canPush: boolean;
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED';
  readonly body: string;
  readonly commit: string;
  /** In simulated milliseconds. */
  readonly at: number;
}

export interface SimulatedPull {
  readonly number: number;
  readonly branch: string;
  base: string;
  state: 'OPEN' | 'CLOSED' | 'MERGED';
  headOid: string;
  mergeCommit: string | null;
  mergedBy: string | null;
  closedBy: string | null;
  readonly reviews: SimulatedReview[];
}

export interface HostCheckRun {
  readonly id: number;
  readonly name: string;
  result: CheckResult | null;
}

export interface GithubMerge {
  readonly number: number;
  readonly method: MergeMethod;
  readonly by: string;
  readonly maker: Maker;
  /** The head that must stand there; absent: any. */
  readonly sha?: string;
}

/** To which people retarget. */
export const otherBase = 'develop';

/**
 * The pull requests of GitHub over its repository. As GitHub it follows branches, closes a pull request whose branch is gone or
 * empty, marks one as merged whose head reaches its base, and has at most one open for a branch and a base.
 */
export class SimulatedGithub {
  readonly pulls: SimulatedPull[] = [];
  readonly checks = new Map<string, HostCheckRun[]>();
  /** The branches whose pull request a person opened again. */
  readonly reopened = new Set<string>();
  readonly onOpened = new Set<(pull: SimulatedPull) => void>();
  readonly onMerged = new Set<(pull: SimulatedPull) => void>();
  /** Called with each head of an open pull request. */
  onHead: (commit: string) => void = () => {};
  readonly #repository: SimulatedRepository;

  constructor(repository: SimulatedRepository) {
    this.#repository = repository;
    const move = { from: null, to: repository.base, maker: 'person', name: 'nobody' } as const;
    repository.move({ branch: otherBase, ...move });
    repository.onMove.add((each) => this.#settle(each));
  }

  get(number: number): SimulatedPull | undefined {
    return this.pulls[number - 1];
  }

  /** Null: GitHub refuses. */
  open(branch: string, base: string): SimulatedPull | null {
    const [head, into] = [this.#repository.ref(branch), this.#repository.ref(base)];
    if (head === null || into === null || this.#repository.contains(into, head)) return null;
    if (this.pulls.some((pull) => pull.state === 'OPEN' && pull.branch === branch && pull.base === base)) return null;
    const ends = { mergeCommit: null, mergedBy: null, closedBy: null };
    const pull: SimulatedPull = {
      ...{ number: this.pulls.length + 1, branch, base, state: 'OPEN', headOid: head, reviews: [] },
      ...ends,
    };
    this.pulls.push(pull);
    for (const told of this.onOpened) told(pull);
    this.onHead(head);
    return pull;
  }

  /** False: GitHub refuses. */
  merge({ number, method, by, maker, sha }: GithubMerge): boolean {
    const pull = this.get(number);
    const repository = this.#repository;
    const head = pull === undefined ? null : repository.ref(pull.branch);
    const base = pull === undefined ? null : repository.ref(pull.base);
    if (pull?.state !== 'OPEN' || head === null || base === null || (sha !== undefined && sha !== head)) return false;
    const make = { merge: 'merged', squash: 'squashed', rebase: 'rebased' } as const;
    const made = repository[make[method]](base, head, maker, by);
    if (typeof made !== 'string') return false;
    this.#end(pull, { state: 'MERGED', headOid: head, mergeCommit: made, mergedBy: by });
    repository.move({ branch: pull.base, from: base, to: made, maker, name: by, head });
    return true;
  }

  close(number: number, by: string): void {
    const pull = this.get(number);
    if (pull?.state === 'OPEN') this.#end(pull, { state: 'CLOSED', closedBy: by });
  }

  /** Whether GitHub let the person do it. */
  reopen(number: number): boolean {
    const pull = this.get(number);
    if (pull?.state !== 'CLOSED') return false;
    const [head, base] = [this.#repository.ref(pull.branch), this.#repository.ref(pull.base)];
    const another = this.pulls.some(({ state, branch }) => state === 'OPEN' && branch === pull.branch);
    if (head === null || base === null || another || this.#repository.contains(base, head)) return false;
    Object.assign(pull, { state: 'OPEN', closedBy: null, headOid: head });
    this.reopened.add(pull.branch);
    this.onHead(head);
    return true;
  }

  retarget(number: number, base: string): void {
    const pull = this.get(number);
    if (pull?.state !== 'OPEN') return;
    pull.base = base;
    this.#settle(null);
  }

  /** A person removes a branch. */
  remove(branch: string): void {
    this.#repository.remove(branch);
    this.#settle(null);
  }

  #settle(move: RefMove | null): void {
    for (const pull of this.pulls.filter(({ state }) => state === 'OPEN')) {
      const [head, base] = [this.#repository.ref(pull.branch), this.#repository.ref(pull.base)];
      if (head === null || base === null) this.#end(pull, { state: 'CLOSED', closedBy: 'someone' });
      else if (!this.#repository.contains(base, head)) {
        if (head !== pull.headOid) this.onHead(head);
        pull.headOid = head;
      } else if (head === pull.headOid)
        this.#end(pull, { state: 'MERGED', mergeCommit: head, mergedBy: move?.name ?? 'someone' });
      else this.#end(pull, { state: 'CLOSED', closedBy: 'someone', headOid: head });
    }
  }

  #end(pull: SimulatedPull, end: Partial<SimulatedPull>): void {
    Object.assign(pull, end);
    if (pull.state === 'MERGED') for (const told of this.onMerged) told(pull);
  }
}
