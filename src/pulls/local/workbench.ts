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
    return await use({
      objects: path.join(folder, 'objects'),
      ask: (args, options) => git.ask({ ...call, ...options, args }),
      run: (args, options) => git.run({ ...call, ...options, args }),
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

/** The three-way merge of two commits as a tree, or the files in conflict; null: they have no commit in common. */
export async function mergeTrees(
  bench: Workbench,
  ours: string,
  theirs: string,
): Promise<{ readonly tree: string } | { readonly conflicts: readonly string[] } | null> {
  const base = await bench.ask(['merge-base', ours, theirs]);
  if (base.code === 1) return null;
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ours, theirs];
  const { code, stdout, stderr } = await bench.ask(args);
  const [tree = '', ...files] = stdout.split('\0');
  if (code === 0) return { tree };
  if (code === 1) return { conflicts: [...new Set(files.filter(Boolean).map(textOf))].slice(0, mostConflicts) };
  throw new BatonError('git_failed', `git merge-tree failed: ${stderr.trim().slice(-500)}`, { details: { code } });
}

const mostConflicts = 100;

/** Names of files are bytes, one character for each. */
function textOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

export async function isAncestor(bench: Workbench, earlier: string, later: string): Promise<boolean> {
  const { code, stderr } = await bench.ask(['merge-base', '--is-ancestor', earlier, later]);
  if (code > 1) throw new BatonError('git_failed', `git merge-base failed: ${stderr.trim().slice(-500)}`);
  return code === 0;
}

/** Whether a head can be merged into a base, and the files in conflict. */
export async function mergeabilityOf(
  bench: Workbench,
  head: string,
  base: string,
): Promise<Pick<PullFacts, 'mergeability' | 'conflicts'>> {
  const merged = await mergeTrees(bench, base, head);
  if (merged === null) return { mergeability: 'conflict', conflicts: [] };
  if ('conflicts' in merged) return { mergeability: 'conflict', conflicts: merged.conflicts };
  return { mergeability: (await isAncestor(bench, base, head)) ? 'clean' : 'behind', conflicts: [] };
}

/** The lines of a list. */
export function linesOf(output: string): readonly string[] {
  return output.split('\n').filter((line) => line !== '');
}
