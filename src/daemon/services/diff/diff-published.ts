import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Diff } from '../../../client/schema/run.ts';
import type { RunEvidence } from '../../../core/run/run-evidence.ts';
import type { RepositorySettings } from '../../../core/settings.ts';
import { shellArgument } from '../../../core/text/shell-argument.ts';
import { standIn } from '../../../pulls/local/make-merge.ts';
import { mergeTrees, withWorkbench } from '../../../pulls/local/workbench.ts';
import { lstatOrNull } from '../../../workspace/file-system.ts';
import type { Git, GitCall } from '../../../workspace/git/git.ts';
import { folderName, type GitPlaces } from '../../../workspace/git/git-places.ts';
import { readGitDirectory } from '../../../workspace/git/read/read-git-directory.ts';
import { refuseTreeBomb } from '../../../workspace/git/shadow/refuse-tree-bomb.ts';
import { setShadow, through } from '../../../workspace/git/shadow/shadow-git.ts';
import type { Look } from '../../../workspace/git/shadow/with-shadow.ts';
import { findCommonDirectory } from '../../../workspace/git/source/source-repository.ts';
import { changedRows, diffArguments, mostFiles, patchBudget, readRaw } from './diff-text.ts';
import { trackedPatches } from './tracked-patches.ts';

/** The work of a run whose workspace is gone, as far as Baton knows it. */
export interface PublishedWork {
  /** Null for work that was on no branch. */
  readonly branch: string | null;
  readonly commit: string;
  /** Commits beyond the base. */
  readonly ahead: number;
  /** The commit that they stand on, where it is recorded; else it is searched for. */
  readonly base?: string | undefined;
}

export interface PublishedParts {
  readonly git: Git;
  readonly places: GitPlaces;
  readonly repo: RepositorySettings;
  readonly signal: AbortSignal;
}

const callMs = 20_000;
const listBytes = 16 * 1024 * 1024;
/** A branch with more commits than this is not the work on one issue. */
const mostCommits = 10_000;

/** Reads it from the evidence of a run; null when the evidence is not sufficient. */
export function publishedIn({ git, publication }: RunEvidence): PublishedWork | null {
  if (git?.head == null || git.ahead === null) return null;
  // The published commit differs from the one whose commits were counted.
  if (publication?.commit != null && publication.commit !== git.head) return null;
  return { branch: publication?.branch ?? git.branch, commit: git.head, ahead: git.ahead, base: git.base };
}

/**
 * The changes of a run's commits, read from the repository that they were published to, or from Baton's copy of it. An
 * agent wrote those commits, so they are read through a separate shadow git directory, which ignores the settings and
 * attributes of the repository. Null when the commits are not there. Rejects when they cannot be read.
 */
export function diffPublished(published: PublishedWork, parts: PublishedParts): Promise<Diff | null> {
  const { branch, commit, ahead, base } = published;
  return diffFrom({ branch, commit }, async (call, git) => base ?? baseOf(commit, ahead, call, git), parts);
}

/** The same for a change under review: what it adds to its base, wherever that is by now. */
export function diffAgainst(
  change: Pick<PublishedWork, 'branch' | 'commit'>,
  base: string,
  parts: PublishedParts,
): Promise<Diff | null> {
  const mergeBase: FindBase = async (call, git) => {
    const { code, stdout } = await git.ask({ ...call, args: ['merge-base', base, change.commit] });
    return code === 0 ? stdout.trim() : null;
  };
  return diffFrom(change, mergeBase, parts);
}

/** An earlier commit of a change under review, and the base of the change. */
export interface EarlierRound {
  readonly earlier: string;
  readonly base: string;
}

/**
 * What changed in a change since an earlier round of it. Where it starts from another commit of the base by now, the
 * earlier commit is brought there first, so that changes of the base are left out. If that gives conflicts,
 * `includes_base` says that they are in it.
 */
export async function diffSince(
  change: Pick<PublishedWork, 'branch' | 'commit'>,
  { earlier, base }: EarlierRound,
  parts: PublishedParts,
): Promise<Diff | null> {
  const { git, places, repo, signal } = parts;
  const plainly = (): Promise<Diff | null> => diffFrom(change, async () => earlier, parts);
  if (!repo.isLocal) return plainly();
  const common = await findCommonDirectory(git, repo.location);
  return withWorkbench({ git, scratch: places.scratch, common, signal }, async (bench) => {
    const startOf = async (commit: string): Promise<string> =>
      (await bench.ask(['merge-base', base, commit])).stdout.trim();
    const [began, begins] = [await startOf(earlier), await startOf(change.commit)];
    if (began === begins || begins === '') return plainly();
    for (const commit of [earlier, begins]) await bench.refuseBomb(commit);
    const brought = await mergeTrees(bench, begins, earlier);
    if (brought === null || 'conflicts' in brought) {
      const diff = await plainly();
      return diff === null ? null : { ...diff, includes_base: true };
    }
    const from = await standIn(bench, brought.tree, []);
    const diff = await diffFrom(change, async () => from, parts, [bench.objects]);
    return diff === null ? null : { ...diff, base: earlier };
  });
}

/** The commit that a diff begins at; null when there is none. */
type FindBase = (call: Omit<GitCall, 'args'>, git: Git) => Promise<string | null>;

async function diffFrom(
  published: Pick<PublishedWork, 'branch' | 'commit'>,
  findBase: FindBase,
  parts: PublishedParts,
  more: readonly string[] = [],
): Promise<Diff | null> {
  const { git, places, repo, signal } = parts;
  const source = await objectsOf(repo, git, places);
  if (source === null) return null;
  const { objectFormat, shallow } = source;
  const borrowed = [...source.objects, ...more];
  await mkdir(places.scratch, { recursive: true });
  const folder = await mkdtemp(path.join(places.scratch, 'diff-'));
  try {
    const shadow = await setShadow({ folder, head: published.commit, objectFormat, shallow });
    const call = { ...through(shadow, folder), borrowed, settings: ['core.fsync=none'], timeoutMs: callMs, signal };
    const { code } = await git.ask({ ...call, args: ['cat-file', '-e', `${published.commit}^{commit}`] });
    if (code !== 0) return null;
    const base = await findBase(call, git);
    return base === null ? null : await diffThrough({ ...published, base }, { shadow, call }, git);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Says where the work is when it cannot be shown here, and how to see it. */
export function wherePublished(branch: string, { isLocal, location }: RepositorySettings): string {
  const name = shellArgument(branch);
  const command = isLocal
    ? `git -C ${shellArgument(location)} log --patch ${name}`
    : `git fetch origin ${name} && git log --patch FETCH_HEAD`;
  return `The work is in the branch \`${branch}\`. To see it: ${command}`;
}

async function objectsOf(repo: RepositorySettings, git: Git, places: GitPlaces) {
  if (repo.isLocal) return readGitDirectory(await findCommonDirectory(git, repo.location));
  const cache = path.join(places.caches, `${folderName(repo.shown, repo.shown)}.git`);
  return (await lstatOrNull(cache)) === null ? null : readGitDirectory(cache);
}

async function diffThrough(
  { branch, commit, base }: Pick<PublishedWork, 'branch' | 'commit'> & { readonly base: string },
  look: Look,
  git: Git,
): Promise<Diff> {
  for (const each of [base, commit]) await refuseTreeBomb(git, look.call, each);
  const span = `${base}..${commit}`;
  const args = ['diff', '--raw', '-z', ...diffArguments, span, '--'];
  const all = readRaw(await git.run({ ...look.call, args, maxOutputBytes: listBytes }));
  const shown = all.slice(0, mostFiles);
  const files = changedRows(shown, await trackedPatches(span, all, shown, look, git), patchBudget());
  return { base, head: commit, branch, files, is_cut: all.length > shown.length, why_none: null };
}

/**
 * The commit that lies `ahead` commits behind: on the line of first parents, the one with this distance. The distance
 * only grows along that line, so a binary search finds it. Null when there is none.
 */
async function baseOf(commit: string, ahead: number, call: Omit<GitCall, 'args'>, git: Git): Promise<string | null> {
  if (ahead > mostCommits) return null;
  const list = (...args: string[]): Promise<string> => git.run({ ...call, args: ['rev-list', ...args, '--'] });
  const line = (await list('--first-parent', `--max-count=${ahead + 1}`, commit)).trim().split('\n');
  let [from, to] = [0, line.length - 1];
  while (from < to) {
    const middle = Math.ceil((from + to) / 2);
    const distance = Number(await list('--count', `--max-count=${ahead + 1}`, `${line[middle]}..${commit}`));
    if (distance > ahead) to = middle - 1;
    else from = middle;
  }
  const found = line[from] ?? null;
  const distance = Number(await list('--count', `--max-count=${ahead + 1}`, `${found}..${commit}`));
  return distance === ahead ? found : null;
}
