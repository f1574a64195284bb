import type { Git } from '../../workspace/git/git.ts';
import type { ObservedMerge } from '../pull-requests.ts';
import { forkOf, isAncestor, linesOf, type Workbench, wouldMerge } from './workbench.ts';

/** Where a change may have been merged. */
export interface Observation {
  /** The head that stood in review: only this change counts, not what its branch has become. */
  readonly head: string;
  /** The base branch, and its commit now. */
  readonly base: string;
  readonly baseCommit: string;
  /** The base when the head began to stand; null: a person asks for the merge, so it counts however long it is there. */
  readonly earlierBase: string | null;
}

/** How far back a merge is looked for, and how much of patches is compared. */
const mostCommits = 10_000;
const mostCompared = 300;
const mostPatchBytes = 32 * 1024 * 1024;
const mostReflog = 100;

/**
 * Finds out whether a change is in its base, however it came there:
 *
 * - its head is an ancestor of the base (`git merge`, also a fast-forward);
 * - every commit of it is there as a patch (a rebase), or all of it as one patch (a squash);
 * - a merge of it would change no file of the base (a squash or rebase onto a base that had moved).
 *
 * A change without any effect is never merged by the last two.
 */
export async function observeMerge(
  bench: Workbench,
  seen: Observation,
  person: { readonly git: Git; readonly common: string },
): Promise<ObservedMerge | null> {
  const { head, baseCommit, earlierBase } = seen;
  if (await isAncestor(bench, head, baseCommit)) return ancestorMerge(bench, seen, person);
  // Only a base that moved can have been merged into; a change may repeat what was there before.
  if (earlierBase === baseCommit) return null;
  const fork = await forkOf(bench, baseCommit, head);
  if (fork === null || !(await bench.once(`changes ${fork} ${head}`, () => hasChanges(bench, fork, head)))) return null;
  return (await patchMerge(bench, fork, seen)) ?? (await treeMerge(bench, fork, seen));
}

async function hasChanges(bench: Workbench, from: string, to: string): Promise<boolean> {
  return (await bench.ask(['diff-tree', '--quiet', '-r', from, to])).code === 1;
}

async function ancestorMerge(
  bench: Workbench,
  seen: Observation,
  person: { readonly git: Git; readonly common: string },
): Promise<ObservedMerge> {
  const { head, baseCommit } = seen;
  const line = await firstParents(bench, baseCommit, head);
  // The first commit of the base, in time, that contains the head; none: the base was moved forward to the head.
  const commit = await firstThat(line, (each) => isAncestor(bench, head, each));
  if (commit !== null) {
    const [author = '', parents = ''] = (await bench.run(['show', '-s', '--format=%an%n%P', commit])).split('\n');
    // A merge commit is by the person who merged, also where a service committed it.
    if (parents.includes(' ') && !parents.startsWith(head)) return { commit, by: textOf(author), method: 'merge' };
  }
  return { commit: head, by: await movedBy(bench, seen, person), method: 'merge' };
}

/** The commits of the base's own line that the head lacks, the oldest first. */
async function firstParents(bench: Workbench, baseCommit: string, not: string): Promise<readonly string[]> {
  const list = await bench.run([
    'rev-list',
    '--first-parent',
    `--max-count=${mostCommits}`,
    baseCommit,
    `^${not}`,
    '--',
  ]);
  return linesOf(list).toReversed();
}

/** The first of a list for which something holds that, once it holds, holds for the rest. */
async function firstThat(line: readonly string[], holds: (commit: string) => Promise<boolean>): Promise<string | null> {
  let [from, to] = [0, line.length];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const commit = line[middle];
    if (commit !== undefined && (await holds(commit))) to = middle;
    else from = middle + 1;
  }
  return line[from] ?? null;
}

/** Who moved the base forward over the head, as its reflog says; null where there is none. */
async function movedBy(
  bench: Workbench,
  { head, base }: Observation,
  { git, common }: { readonly git: Git; readonly common: string },
): Promise<string | null> {
  const format = `--format=%H%x00%gn`;
  const args = ['log', '--walk-reflogs', `--max-count=${mostReflog}`, format, `refs/heads/${base}`, '--'];
  const { code, stdout } = await git.ask({ args, gitDir: common });
  if (code !== 0) return null;
  let found: string | null = null;
  for (const line of linesOf(stdout)) {
    const [commit = '', name = ''] = line.split('\0');
    if (!(await isAncestor(bench, head, commit))) break;
    found = textOf(name);
  }
  return found === '' ? null : found;
}

/** The proof by patches. */
async function patchMerge(
  bench: Workbench,
  fork: string,
  { head, baseCommit }: Observation,
): Promise<ObservedMerge | null> {
  const list = (of: string, not: string): Promise<readonly string[]> =>
    bench.once(`list ${of} ${not}`, async () =>
      linesOf(await bench.run(['rev-list', '--no-merges', `--max-count=${mostCompared + 1}`, of, `^${not}`, '--'])),
    );
  const [theirs, ours] = [await list(baseCommit, fork), await list(head, baseCommit)];
  if (Math.max(theirs.length, ours.length) > mostCompared || ours.length === 0) return null;
  const there = await patchesOf(bench, theirs);
  if (there === null || there.size === 0) return null;
  const whole = await bench.once(`patch ${fork} ${head}`, async () => {
    const ids = await patchIds(bench, ['diff-tree', ...patch, fork, head]);
    return ids && (ids.values().next().value ?? null);
  });
  const squashed = there.get(whole ?? '');
  if (squashed !== undefined) return byCommitter(bench, squashed, ours.length === 1 ? null : 'squash');
  const own = await patchesOf(bench, ours);
  if (own === null || own.size === 0) return null;
  const found = [...own.keys()].map((id) => there.get(id));
  if (found.some((commit) => commit === undefined)) return null;
  // The newest of them, in the order of the base.
  const last = theirs.find((commit) => found.includes(commit));
  return last === undefined ? null : byCommitter(bench, last, 'rebase');
}

const patch = ['-p', '--no-ext-diff', '--no-textconv', '--full-index'];

/** The commits, the newest first, by their patches; of two with the same patch the older. Null: there is too much to compare. */
async function patchesOf(bench: Workbench, commits: readonly string[]): Promise<ReadonlyMap<string, string> | null> {
  const patches = new Map<string, string>();
  // A base grows at its end, so the oldest commit that is not known yet begins the unknown ones.
  const oldestFirst = commits.toReversed();
  let fresh: ReadonlyMap<string, string> | undefined;
  for (const [at, commit] of oldestFirst.entries()) {
    const id = await bench.once(`patch ${commit}`, async () => {
      fresh ??= await patchIds(bench, [
        'log',
        '--no-walk',
        ...patch,
        '--format=commit %H',
        ...oldestFirst.slice(at),
        '--',
      ]);
      return fresh && (fresh.get(commit) ?? null);
    });
    if (id === undefined) return null;
    if (id !== null && !patches.has(id)) patches.set(id, commit);
  }
  return patches;
}

/** The ids of the patches that a command prints, by commit. They leave out line numbers and white space. */
async function patchIds(bench: Workbench, args: readonly string[]): Promise<ReadonlyMap<string, string> | undefined> {
  const text = await bench.ask(args, { maxOutputBytes: mostPatchBytes }).catch(() => null);
  if (text === null || text.code !== 0) return;
  const ids = linesOf(await bench.run(['patch-id', '--stable'], { stdin: Buffer.from(text.stdout, 'latin1') }));
  return new Map(ids.map((line) => [line.split(' ')[1] ?? '', line.split(' ')[0] ?? '']));
}

/** The proof by trees: the base has everything already. */
async function treeMerge(
  bench: Workbench,
  fork: string,
  { head, baseCommit }: Observation,
): Promise<ObservedMerge | null> {
  const addsNothing = async (commit: string): Promise<boolean> => {
    const merged = await wouldMerge(bench, commit, head);
    if (merged === null || 'conflicts' in merged) return false;
    const tree = await bench.once(`tree ${commit}`, () => bench.run(['rev-parse', `${commit}^{tree}`]));
    return merged.tree === tree.trim();
  };
  if (!(await addsNothing(baseCommit))) return null;
  const commit = await firstThat(await firstParents(bench, baseCommit, fork), addsNothing);
  return byCommitter(bench, commit ?? baseCommit, null);
}

async function byCommitter(bench: Workbench, commit: string, method: ObservedMerge['method']): Promise<ObservedMerge> {
  const name = textOf((await bench.run(['show', '-s', '--format=%cn', commit])).trim());
  return { commit, by: name === '' ? null : name, method };
}

function textOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
