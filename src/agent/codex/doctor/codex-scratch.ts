import { mkdir, readdir, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../../core/baton-error.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import { childEnvironment, usualVariables } from '../../../process/child-environment.ts';
import { runToEnd } from '../../../process/run-to-end.ts';
import type { AgentDoctorParts } from '../../backend.ts';
import { makeTrialFolder } from '../../trial-session.ts';

const initMs = 10_000;

/** A scratch workspace with its git directory outside of it, as worktrees have. Disposing removes both. */
export interface CodexScratch extends AsyncDisposable {
  readonly workspace: string;
  readonly gitDirectory: string;
  /** Whether a commit was made, that is, a branch points to one. */
  hasCommit(): Promise<boolean>;
}

export async function makeCodexScratch(parts: AgentDoctorParts): Promise<CodexScratch> {
  // Codex and the sandbox resolve symbolic links.
  const folder = await realpath(await makeTrialFolder(parts.scratchFolders));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  try {
    const workspace = path.join(folder, 'workspace');
    const gitDirectory = path.join(folder, 'git-directory');
    await mkdir(workspace);
    await initRepository(workspace, gitDirectory, parts);
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

/** Without a template, so that no hook of this user runs in it. */
async function initRepository(workspace: string, gitDirectory: string, parts: AgentDoctorParts): Promise<void> {
  const { chance, env, process } = parts;
  const { code, stderr } = await runToEnd(
    {
      command: 'git',
      args: ['init', '--quiet', '--template=', '--initial-branch=doctor', `--separate-git-dir=${gitDirectory}`],
      cwd: workspace,
      env: childEnvironment({ from: env, allow: usualVariables, deny: [] }),
      runId: chance.id(),
      timeoutMs: initMs,
    },
    process,
  );
  if (code !== 0) throw new BatonError('git_failed', `git init failed. git said: ${harmlessLine(stderr)}`);
}
