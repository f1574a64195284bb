import type { ObservedMerge } from '../../../src/pulls/pull-requests.ts';

/** Who made a commit or moved a branch: an agent, Baton for a person, or a person with git. */
export type Maker = 'agent' | 'baton' | 'person';

export interface SimulatedCommit {
  readonly id: string;
  readonly parents: readonly string[];
  /** The files and their contents. */
  readonly tree: ReadonlyMap<string, string>;
  readonly maker: Maker;
  readonly author: string;
  readonly committer: string;
}

export interface RefMove {
  readonly branch: string;
  /** Null: the branch is new. */
  readonly from: string | null;
  readonly to: string;
  readonly maker: Maker;
  /** The name in the reflog. */
  readonly name: string;
  /** The head that Baton merges with this move of the base. */
  readonly head?: string;
}

export const baseBranch = 'main';

/** As long as git's. */
export function commitId(nth: number): string {
  return `c${String(nth).padStart(39, '0')}`;
}

/** A merge of two trees: the result, or the files that both changed. */
type MergedTree = { readonly tree: ReadonlyMap<string, string> } | { readonly conflicts: readonly string[] };

/**
 * A git repository in memory: commits, branches that move by compare-and-swap, three-way merges by file, and the proofs of a
 * merge that the local host uses. A file has one line, so two different changes of it are a conflict.
 */
export class SimulatedRepository {
  readonly #commits: Map<string, SimulatedCommit>;
  readonly #depths: Map<string, number>;
  readonly #refs = new Map<string, string>();
  readonly #baseLog: { readonly commit: string; readonly name: string }[] = [];
  /** Called after each move of a branch. */
  readonly onMove = new Set<(move: RefMove) => void>();

  /** With `of`, a clone that shares its commits and has branches of its own. */
  constructor(of?: SimulatedRepository) {
    this.#commits = of === undefined ? new Map() : of.#commits;
    this.#depths = of === undefined ? new Map() : of.#depths;
    if (of !== undefined) {
      this.#refs.set(baseBranch, of.base);
      return;
    }
    const root = this.commit([], { readme: 'root' }, 'person', 'nobody');
    this.#refs.set(baseBranch, root);
    this.#baseLog.push({ commit: root, name: 'nobody' });
  }

  get(id: string): SimulatedCommit {
    const commit = this.#commits.get(id);
    if (commit === undefined) throw new Error(`there is no commit ${id}`);
    return commit;
  }

  ref(branch: string): string | null {
    return this.#refs.get(branch) ?? null;
  }

  /** The commit of the base, which is never deleted. */
  get base(): string {
    return this.#refs.get(baseBranch) ?? '';
  }

  /** A commit with the files of its first parent and these changes. */
  commit(
    parents: readonly string[],
    changes: Readonly<Record<string, string>>,
    maker: Maker,
    author: string,
    committer = author,
  ): string {
    const [first] = parents;
    const before = first === undefined ? new Map<string, string>() : this.get(first).tree;
    return this.#add({
      parents,
      tree: new Map([...before, ...Object.entries(changes)]),
      maker,
      author,
      committer,
    });
  }

  #add(commit: Omit<SimulatedCommit, 'id'>): string {
    const id = commitId(this.#commits.size + 1);
    this.#commits.set(id, { ...commit, id });
    this.#depths.set(id, 1 + Math.max(0, ...commit.parents.map((parent) => this.#depths.get(parent) ?? 0)));
    return id;
  }

  /** Moves a branch only from where it is expected; false when it is elsewhere. */
  move(move: RefMove): boolean {
    const { branch, from, to, name } = move;
    if (this.ref(branch) !== from) return false;
    this.#refs.set(branch, to);
    if (branch === baseBranch) this.#baseLog.push({ commit: to, name });
    for (const told of this.onMove) told(move);
    return true;
  }

  remove(branch: string): void {
    this.#refs.delete(branch);
  }

  /** The commit and everything before it. */
  history(id: string): ReadonlySet<string> {
    const found = new Set<string>();
    const next = [id];
    for (let each = next.pop(); each !== undefined; each = next.pop()) {
      if (found.has(each)) continue;
      found.add(each);
      next.push(...this.get(each).parents);
    }
    return found;
  }

  contains(later: string, earlier: string): boolean {
    return this.history(later).has(earlier);
  }

  /** The commits of `of` that `without` lacks, the oldest first. */
  between(without: string, of: string): string[] {
    const known = this.history(without);
    const own = [...this.history(of)].filter((id) => !known.has(id));
    return own.toSorted((left, right) => this.#depth(left) - this.#depth(right));
  }

  mergeTrees(base: string, head: string): MergedTree {
    const fork = this.get(this.#fork(base, head)).tree;
    const [ours, theirs] = [this.get(base).tree, this.get(head).tree];
    const tree = new Map(ours);
    const conflicts: string[] = [];
    for (const [file, text] of theirs) {
      const before = fork.get(file);
      if (text === before || ours.get(file) === text) continue;
      if (ours.get(file) === before) tree.set(file, text);
      else conflicts.push(file);
    }
    return conflicts.length > 0 ? { conflicts } : { tree };
  }

  /** A merge commit of two commits, or the files in conflict. */
  merged(base: string, head: string, maker: Maker, name: string): string | readonly string[] {
    const made = this.mergeTrees(base, head);
    if ('conflicts' in made) return made.conflicts;
    return this.#add({ parents: [base, head], tree: made.tree, maker, author: name, committer: name });
  }

  /** One commit with all changes of a head on top of a base. */
  squashed(base: string, head: string, maker: Maker, name: string): string | readonly string[] {
    const made = this.mergeTrees(base, head);
    if ('conflicts' in made) return made.conflicts;
    return this.#add({ parents: [base], tree: made.tree, maker, author: name, committer: name });
  }

  /** Each commit of a head on top of a base; a head that is on top of it already stays as it is. */
  rebased(base: string, head: string, maker: Maker, name: string): string | readonly string[] {
    const own = this.between(base, head).map((id) => this.get(id));
    const hasMerges = own.some(({ parents }) => parents.length > 1);
    if (!hasMerges && this.contains(head, base)) return head;
    let onto = base;
    for (const { id, parents, author } of own) {
      const [parent] = parents;
      if (parent === undefined || parents.length > 1) continue;
      const changes = this.#patch(parent, id);
      const now = this.get(onto).tree;
      const before = this.get(parent).tree;
      const conflicts = [...changes.keys()].filter(
        (file) => now.get(file) !== before.get(file) && now.get(file) !== changes.get(file),
      );
      if (conflicts.length > 0) return conflicts;
      const isEmpty = [...changes].every(([file, text]) => now.get(file) === text);
      if (isEmpty) continue;
      onto = this.#add({ parents: [onto], tree: new Map([...now, ...changes]), maker, author, committer: name });
    }
    return onto;
  }

  /** As `observeMerge` of the local host: by ancestry, by patch, by tree. */
  observe(head: string, baseCommit: string, earlierBase: string | null): ObservedMerge | null {
    if (this.contains(baseCommit, head)) return this.#ancestorMerge(head, baseCommit);
    if (earlierBase === baseCommit) return null;
    const fork = this.#fork(baseCommit, head);
    if (this.#patch(fork, head).size === 0) return null;
    return this.#patchMerge(fork, head, baseCommit) ?? this.#treeMerge(head, baseCommit);
  }

  #ancestorMerge(head: string, baseCommit: string): ObservedMerge {
    const commit = this.#firstParents(baseCommit, head).find((each) => this.contains(each, head));
    if (commit !== undefined) {
      const { parents, author } = this.get(commit);
      if (parents.length > 1 && parents[0] !== head) return { commit, by: author, method: 'merge' };
    }
    let by: string | null = null;
    for (const entry of this.#baseLog.toReversed()) {
      if (!this.contains(entry.commit, head)) break;
      by = entry.name;
    }
    return { commit: head, by, method: 'merge' };
  }

  #patchMerge(fork: string, head: string, baseCommit: string): ObservedMerge | null {
    const theirs = this.between(fork, baseCommit).filter((id) => this.get(id).parents.length === 1);
    const ours = this.between(baseCommit, head).filter((id) => this.get(id).parents.length === 1);
    if (ours.length === 0) return null;
    const there = new Map(theirs.map((id) => [this.#patchId(this.get(id).parents[0] ?? '', id), id]));
    const squash = there.get(this.#patchId(fork, head));
    if (squash !== undefined)
      return { commit: squash, by: this.get(squash).committer, method: ours.length === 1 ? null : 'squash' };
    const found = ours.map((id) => there.get(this.#patchId(this.get(id).parents[0] ?? '', id)));
    if (found.includes(undefined)) return null;
    const last = theirs.findLast((id) => found.includes(id));
    return last === undefined ? null : { commit: last, by: this.get(last).committer, method: 'rebase' };
  }

  #treeMerge(head: string, baseCommit: string): ObservedMerge | null {
    const addsNothing = (commit: string): boolean => {
      const made = this.mergeTrees(commit, head);
      return 'tree' in made && sameTree(made.tree, this.get(commit).tree);
    };
    if (!addsNothing(baseCommit)) return null;
    const commit = this.#firstParents(baseCommit, this.#fork(baseCommit, head)).find(addsNothing) ?? baseCommit;
    return { commit, by: this.get(commit).committer, method: null };
  }

  /** The own line of the base that `not` lacks, the oldest first. */
  #firstParents(baseCommit: string, not: string): string[] {
    const known = this.history(not);
    const line: string[] = [];
    for (let each: string | undefined = baseCommit; each !== undefined && !known.has(each); ) {
      line.push(each);
      each = this.get(each).parents[0];
    }
    return line.toReversed();
  }

  #fork(left: string, right: string): string {
    const known = this.history(left);
    const common = [...this.history(right)].filter((id) => known.has(id));
    return common.toSorted((one, other) => this.#depth(other) - this.#depth(one))[0] ?? '';
  }

  #patch(from: string, to: string): ReadonlyMap<string, string> {
    const before = this.get(from).tree;
    return new Map([...this.get(to).tree].filter(([file, text]) => before.get(file) !== text));
  }

  #patchId(from: string, to: string): string {
    const before = this.get(from).tree;
    return [...this.#patch(from, to)]
      .map(([file, text]) => `${file} ${before.get(file)} ${text}`)
      .toSorted()
      .join('\n');
  }

  #depth(id: string): number {
    return this.#depths.get(id) ?? 0;
  }
}

function sameTree(left: ReadonlyMap<string, string>, right: ReadonlyMap<string, string>): boolean {
  return left.size === right.size && [...left].every(([file, text]) => right.get(file) === text);
}
