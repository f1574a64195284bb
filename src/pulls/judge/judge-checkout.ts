import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { RepositorySettings } from '../../core/settings.ts';
import { deleteTree } from '../../workspace/delete-tree.ts';
import type { Git } from '../../workspace/git/git.ts';
import type { GitPlaces } from '../../workspace/git/git-places.ts';
import { findCommonDirectory } from '../../workspace/git/source/source-repository.ts';
import { checkoutCommit } from '../checks/checkout-commit.ts';

export interface JudgeCheckoutParts {
  readonly git: Git;
  readonly places: GitPlaces;
  readonly repo: RepositorySettings;
}

/** A clean checkout of one commit for one judge. */
export interface JudgeCheckout extends AsyncDisposable {
  /** Absolute. */
  readonly folder: string;
  /** Null: there is no repository. */
  readonly commit: string | null;
  /** What the commit adds to its base, as git prints it; the beginning of it where it is long. */
  readonly diff: string;
  /** Differs from the first answer when a file of the commit changed, or one was added. Null: it could not be read. */
  fingerprint(): Promise<string | null>;
}

/** More than this is read in the checkout itself. */
const longestDiffBytes = 200_000;
const callMs = 60_000;

/**
 * Makes it. What must hold: it has exactly the files of the commit and shares nothing that could be written; whether they
 * changed is read through a git directory that the judge cannot reach; nothing in it is work, so it is deleted without a
 * look. The folder of a lost daemon is removed at the next start, with the scratch folder.
 */
export async function makeJudgeCheckout(
  { git, places, repo }: JudgeCheckoutParts,
  {
    commit,
    baseCommit,
    signal,
  }: { readonly commit: string; readonly baseCommit: string; readonly signal: AbortSignal },
): Promise<JudgeCheckout> {
  await mkdir(places.scratch, { recursive: true });
  const place = await mkdtemp(path.join(places.scratch, 'judge-'));
  const [folder, own] = [path.join(place, 'tree'), path.join(place, 'git')];
  const remove = (): Promise<void> => deleteTree(place).then(() => undefined);
  try {
    await mkdir(folder);
    await checkoutCommit(git, { folder, common: await findCommonDirectory(git, repo.location), commit, signal });
    await cp(path.join(folder, '.git'), own, { recursive: true });
    const { stdout } = await git.ask({
      args: ['diff', '--no-color', '--no-ext-diff', '--no-textconv', '--stat', '--patch', `${baseCommit}...${commit}`],
      gitDir: own,
      timeoutMs: callMs,
      maxOutputBytes: longestDiffBytes * 5,
      signal,
    });
    return {
      folder,
      commit,
      diff: beginningOf(Buffer.from(stdout, 'latin1').toString('utf8')),
      fingerprint: async () => {
        const status = await git.ask({
          args: ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--ignore-submodules=none'],
          gitDir: own,
          workTree: folder,
          readsAgents: true,
          timeoutMs: callMs,
        });
        return status.code === 0 ? createHash('sha256').update(status.stdout).digest('hex') : null;
      },
      [Symbol.asyncDispose]: remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** For a judge in a project without a repository: an empty folder, which must stay empty. */
export async function emptyCheckout({ scratch }: Pick<GitPlaces, 'scratch'>): Promise<JudgeCheckout> {
  await mkdir(scratch, { recursive: true });
  const folder = await mkdtemp(path.join(scratch, 'judge-'));
  return {
    folder,
    commit: null,
    diff: '',
    fingerprint: async () => (await readdir(folder)).toSorted().join('\0'),
    [Symbol.asyncDispose]: () => deleteTree(folder).then(() => undefined),
  };
}

function beginningOf(diff: string): string {
  if (diff.length <= longestDiffBytes) return diff;
  return `${diff.slice(0, longestDiffBytes).toWellFormed()}\n[The rest is left out. Read the files.]`;
}
