import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import { deleteTree } from '../../workspace/delete-tree.ts';
import { writeBareRepository } from '../../workspace/git/bare-repository.ts';
import { type Git, type GitAnswer, type GitCall, quietFetch } from '../../workspace/git/git.ts';
import { readGitDirectory } from '../../workspace/git/read/read-git-directory.ts';
import { refuseTreeBomb } from '../../workspace/git/shadow/refuse-tree-bomb.ts';
import type { PullFacts } from '../pull-requests.ts';

/**
 * A bare repository of Baton's own that borrows the objects of the person's. Merges are computed here, so that no
 * setting, attribute, merge driver, hook or signing program of the person's repository has an effect: an agent that is
 * not isolated may have written them.
 */
export interface Workbench {
  /** The directory of its own objects. */
  readonly objects: string;
  ask(args: readonly string[], options?: WorkbenchCall): Promise<GitAnswer>;
  run(args: readonly string[], options?: WorkbenchCall): Promise<string>;
  /**
   * What follows from the commits that the question names, and so holds for ever: computed once, and kept for the next
   * workbench, unless it is undefined. An answer must not need objects that were written here.
   */
  once<T>(question: string, compute: () => Promise<T>): Promise<T>;
  /** Rejects when a commit of an agent has more files than any work tree. */
  refuseBomb(commit: string): Promise<void>;
  /**
   * Brings a commit with all its objects into the person's repository. Git checks that nothing is missing there. Objects
   * that are not brought there end with the workbench.
   */
  keep(commit: string): Promise<void>;
}

type WorkbenchCall = Pick<GitCall, 'stdin' | 'maxOutputBytes' | 'network' | 'secretSettings' | 'timeoutMs'>;

export interface WorkbenchParts {
  readonly git: Git;
  readonly scratch: string;
  /** The common git directory of the person's repository. */
  readonly common: string;
  /** Commits of that repository that a fetch need not bring again. */
  readonly known?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** Each is a few ids. */
const mostAnswers = 5_000;
const answersOf = new WeakMap<Git, Map<string, unknown>>();

/** A merge that takes longer is not computed: an agent can write histories and trees that keep git busy for ever. */
const callMs = 60_000;

export async function withWorkbench<T>(parts: WorkbenchParts, use: (bench: Workbench) => Promise<T>): Promise<T> {
  const { git, scratch, common, known = [], signal } = parts;
  const source = await readGitDirectory(common);
  if (source === null) throw new BatonError('repository_unavailable', `${common} is no longer a git directory.`);
  await mkdir(scratch, { recursive: true });
  const folder = await mkdtemp(path.join(scratch, 'merge-'));
  try {
    const { objectFormat, objects } = source;
    const references = Object.fromEntries(known.map((commit) => [`refs/known/${commit}`, commit]));
    await writeBareRepository({ folder, objectFormat, references, alternates: objects });
    if (source.shallow.length > 0) await writeFile(path.join(folder, 'shallow'), `${source.shallow.join('\n')}\n`);
    const call = { gitDir: folder, borrowed: objects, timeoutMs: callMs, settings: ['core.fsync=none'], signal };
    // The history of a shallow repository can become longer.
    const answers = (source.shallow.length === 0 && answersOf.get(git)) || new Map<string, unknown>();
    if (source.shallow.length === 0) answersOf.set(git, answers);
    return await use({
      objects: path.join(folder, 'objects'),
      ask: (args, options) => git.ask({ ...call, ...options, args }),
      run: (args, options) => git.run({ ...call, ...options, args }),
      once: async <T>(question: string, compute: () => Promise<T>): Promise<T> => {
        // The question says what kind of answer it has.
        if (answers.has(question)) return answers.get(question) as T;
        const answer = await compute();
        if (answer === undefined) return answer;
        if (answers.size >= mostAnswers) answers.delete(answers.keys().next().value ?? '');
        answers.set(question, answer);
        return answer;
      },
      refuseBomb: (commit) => refuseTreeBomb(git, call, commit),
      keep: async (commit) => {
        const args = [...quietFetch, '--', folder, commit];
        await git.run({ args, gitDir: common, settings: ['fetch.writeCommitGraph=false'], readsAgents: true });
      },
    });
  } finally {
    await deleteTree(folder);
  }
}

type Merged = { readonly tree: string } | { readonly conflicts: readonly string[] } | null;

/** The three-way merge of two commits as a tree, or the files in conflict; null: they have no commit in common. */
export async function mergeTrees(bench: Workbench, ours: string, theirs: string): Promise<Merged> {
  if ((await forkOf(bench, ours, theirs)) === null) return null;
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ours, theirs];
  const { code, stdout, stderr } = await bench.ask(args);
  const [tree = '', ...files] = stdout.split('\0');
  if (code === 0) return { tree };
  if (code === 1) return { conflicts: [...new Set(files.filter(Boolean).map(textOf))].slice(0, mostConflicts) };
  throw new BatonError('git_failed', `git merge-tree failed: ${stderr.trim().slice(-500)}`, { details: { code } });
}

/** As `mergeTrees`, but the tree may not be there. */
export function wouldMerge(bench: Workbench, ours: string, theirs: string): Promise<Merged> {
  return bench.once(`merge ${ours} ${theirs}`, () => mergeTrees(bench, ours, theirs));
}

const mostConflicts = 100;

/** Names of files are bytes, one character for each. */
function textOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** A newest commit that two have in common; null: they have none. */
export function forkOf(bench: Workbench, ...two: readonly [string, string]): Promise<string | null> {
  const commits = two.toSorted();
  return bench.once(`fork ${commits.join(' ')}`, async () => {
    const { code, stdout, stderr } = await bench.ask(['merge-base', ...commits]);
    if (code > 1) throw new BatonError('git_failed', `git merge-base failed: ${stderr.trim().slice(-500)}`);
    return code === 0 ? stdout.trim() : null;
  });
}

export async function isAncestor(bench: Workbench, earlier: string, later: string): Promise<boolean> {
  return (await forkOf(bench, earlier, later)) === earlier;
}

/** Whether a head can be merged into a base, and the files in conflict. */
export async function mergeabilityOf(
  bench: Workbench,
  head: string,
  base: string,
): Promise<Pick<PullFacts, 'mergeability' | 'conflicts'>> {
  const merged = await wouldMerge(bench, base, head);
  if (merged === null) return { mergeability: 'conflict', conflicts: [] };
  if ('conflicts' in merged) return { mergeability: 'conflict', conflicts: merged.conflicts };
  return { mergeability: (await isAncestor(bench, base, head)) ? 'clean' : 'behind', conflicts: [] };
}

/** The lines of a list. */
export function linesOf(output: string): readonly string[] {
  return output.split('\n').filter((line) => line !== '');
}
