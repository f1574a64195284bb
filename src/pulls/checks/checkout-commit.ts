import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import { writeAlternates } from '../../workspace/git/bare-repository.ts';
import type { Git } from '../../workspace/git/git.ts';
import { readGitDirectory } from '../../workspace/git/read/read-git-directory.ts';
import { refuseTreeBomb } from '../../workspace/git/shadow/refuse-tree-bomb.ts';
import { plainConfig } from '../../workspace/git/shadow/shadow-git.ts';

export interface CleanCheckout {
  /** A new folder to fill. */
  readonly folder: string;
  /** The git directory that has the commit. */
  readonly common: string;
  readonly commit: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Fills a folder with the files of exactly one commit, with a git directory of its own whose HEAD names that commit.
 * Nothing is shared that could be written, and no filter runs. Returns the object directories that it reads.
 */
export async function checkoutCommit(git: Git, wanted: CleanCheckout): Promise<readonly string[]> {
  const { folder, common, commit, signal } = wanted;
  const source = await readGitDirectory(common);
  if (source === null) throw new BatonError('repository_unavailable', `${common} is no longer a git directory.`);
  const gitDir = path.join(folder, '.git');
  for (const part of ['objects/pack', 'objects/info', 'refs/heads', 'info'])
    await mkdir(path.join(gitDir, part), { recursive: true });
  await writeFile(path.join(gitDir, 'config'), plainConfig(source.objectFormat));
  await writeAlternates(gitDir, source.objects);
  if (source.shallow.length > 0) await writeFile(path.join(gitDir, 'shallow'), `${source.shallow.join('\n')}\n`);
  await writeFile(path.join(gitDir, 'HEAD'), `${commit}\n`);
  await refuseTreeBomb(git, { gitDir, timeoutMs: 60_000 }, commit);
  await git.run({
    args: ['read-tree', '--reset', '-u', commit],
    gitDir,
    workTree: folder,
    settings: ['core.fsync=none'],
    signal,
  });
  return source.objects;
}
