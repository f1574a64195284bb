import { mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { nearestFolder } from '../../workspace/free-disk.ts';
import { boundedGit } from './bounded-git.ts';

/** A workspace to try things in, with a git directory outside of it as worktrees have it. Disposing removes both. */
export interface CodexScratch extends AsyncDisposable {
  readonly workspace: string;
  readonly gitDirectory: string;
  /** Whether a commit was made: a branch has something to point at. */
  hasCommit(): Promise<boolean>;
}

/**
 * Beside the workspaces, where the sandbox of a turn has to let the agent write; where that cannot be written, in the
 * folder for temporary files.
 */
export async function makeCodexScratch(root: string, surroundings: Surroundings): Promise<CodexScratch> {
  const folder = await nearestFolder(root)
    .then((nearest) => mkdtemp(path.join(nearest.folder, '.baton-doctor-')))
    .catch(() => mkdtemp(path.join(surroundings.tmpDir, '.baton-doctor-')))
    // Codex resolves links, and so does the sandbox.
    .then((made) => realpath(made));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  try {
    const workspace = path.join(folder, 'workspace');
    const gitDirectory = path.join(folder, 'git-directory');
    await mkdir(workspace);
    const init = ['init', '--quiet', '--initial-branch=doctor', `--separate-git-dir=${gitDirectory}`, workspace];
    await boundedGit(surroundings).run({ args: init, gitDir: null });
    return {
      workspace,
      gitDirectory,
      hasCommit: async () => (await readdir(path.join(gitDirectory, 'refs', 'heads'))).length > 0,
      [Symbol.asyncDispose]: remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
