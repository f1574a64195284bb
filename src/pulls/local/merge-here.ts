import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { type RunResult, runToEnd } from '../../process/run-to-end.ts';
import type { ProcessDeps } from '../../process/start-child.ts';
import type { MergeRefusal } from '../pull-requests.ts';

/** A finished merge that waits for the person in whose worktree the base is checked out. */
export interface WaitingMerge {
  /** The folder in which the person calls Baton. */
  readonly folder: string;
  readonly base: string;
  /** Where the base must be. */
  readonly baseCommit: string;
  readonly commit: string;
}

const gitMs = 600_000;

/**
 * Moves the base forward in the worktree of a person, as that person: with their git, their configuration and their
 * hooks. Only for the command line, which runs as them, and only forward: `git merge --ff-only`. Null when it is done.
 */
export async function mergeHere(
  { folder, base, baseCommit, commit }: WaitingMerge,
  env: Readonly<Record<string, string>>,
  deps: ProcessDeps,
): Promise<MergeRefusal | null> {
  const ask = (...args: readonly string[]): Promise<RunResult> =>
    runToEnd(
      { command: 'git', args, cwd: folder, env, runId: 'git', timeoutMs: gitMs },
      { ...deps, containment: 'group_only' },
    );
  const lineOf = async (...args: readonly string[]): Promise<string> => (await ask(...args)).stdout.trim();
  const [on, now] = [await lineOf('symbolic-ref', '-q', '--short', 'HEAD'), await lineOf('rev-parse', 'HEAD')];
  if (on !== base) return { code: 'checked_out', folder, commit };
  if (now === commit) return null;
  if (now !== baseCommit) return { code: 'base_moved', baseCommit: now };
  const status = await ask('status', '--porcelain', '--untracked-files=no');
  if (status.code !== 0 || status.stdout !== '') return { code: 'dirty', folder };
  const merged = await ask('merge', '--ff-only', '--quiet', commit);
  if (merged.code === 0) return null;
  const said = harmlessLine(merged.stderr.trim().slice(-500));
  throw new BatonError('git_failed', `git merge --ff-only failed in ${folder}: ${said}`, { details: { folder, said } });
}
