import { createHash } from 'node:crypto';
import { mkdir, mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import type { CheckResult } from '../../core/pull/pull-request.ts';
import type { RepositorySettings } from '../../core/settings.ts';
import type { IsolationPlan } from '../../process/isolation/isolation-plan.ts';
import type { Isolate } from '../../process/isolation/plan-isolation.ts';
import { deleteTree } from '../../workspace/delete-tree.ts';
import { reasonOf } from '../../workspace/file-system.ts';
import type { Git } from '../../workspace/git/git.ts';
import type { GitPlaces } from '../../workspace/git/git-places.ts';
import { findCommonDirectory } from '../../workspace/git/source/source-repository.ts';
import { issueVariables, runScript, type ScriptParts } from '../../workspace/hooks.ts';
import { checkoutCommit } from './checkout-commit.ts';

export interface CleanRunParts extends ScriptParts {
  readonly repo: RepositorySettings;
  readonly git: Git;
  readonly places: GitPlaces;
  /** What a command sees of the machine; absent: what the user sees. */
  readonly isolate?: Isolate;
  readonly signal: AbortSignal;
}

/** The commit whose files the commands run on, and the issue or task that they are about. */
export interface CleanRunAbout {
  readonly issue: Parameters<typeof issueVariables>[0];
  readonly commit: string;
  readonly baseCommit: string;
}

/** One command of the workflow, with its time limit. */
export interface WantedCommand {
  readonly name: string;
  readonly run: string;
  readonly timeoutMs: number;
}

export interface CommandEnd {
  readonly result: CheckResult;
  readonly exitCode: number | null;
  readonly output: string;
}

/** A clean checkout in which commands run one after another. */
export interface CleanRun extends AsyncDisposable {
  /** Null when it was stopped with the daemon: no one knows how it would have ended. */
  run(command: WantedCommand): Promise<CommandEnd | null>;
}

/** How much of the end of its output is kept. */
const outputBytes = 64 * 1024;

/**
 * Opens a clean checkout of exactly one commit that no agent worked in. Rejects when the commit cannot be checked out. What
 * must hold: a command is contained and isolated as hooks are, has no secret in its environment, and is ended with
 * everything it started. The folder of a lost daemon is removed at the next start, with the scratch folder.
 */
export async function openCleanRun(parts: CleanRunParts, about: CleanRunAbout): Promise<CleanRun> {
  const { git, places, repo, signal } = parts;
  await mkdir(places.scratch, { recursive: true });
  const folder = await mkdtemp(path.join(places.scratch, 'check-'));
  const remove = (): Promise<void> => deleteTree(folder).then(() => undefined);
  try {
    const common = await findCommonDirectory(git, repo.location);
    const objects = await checkoutCommit(git, { folder, common, commit: about.commit, signal });
    const isolation = (await parts.isolate?.({ workspace: folder, writes: [], reads: objects })) ?? null;
    return {
      run: (command) => runOne(command, parts, about, folder, isolation),
      [Symbol.asyncDispose]: remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function runOne(
  { name, run, timeoutMs }: WantedCommand,
  parts: CleanRunParts,
  { issue, commit, baseCommit }: CleanRunAbout,
  folder: string,
  isolation: IsolationPlan | null,
): Promise<CommandEnd | null> {
  const { signal } = parts;
  try {
    const { code, timedOut, stderr } = await runScript(
      {
        // Both outputs in one, in their order, of which the end is kept.
        script: `exec 1>&2\n${run}`,
        path: folder,
        env: {
          ...issueVariables(issue),
          BATON_WORKSPACE: folder,
          BATON_CHECK: name,
          BATON_COMMIT: commit,
          BATON_BASE_COMMIT: baseCommit,
        },
        runId: `check-${createHash('sha256').update(folder).digest('hex').slice(0, 32)}`,
        timeoutMs,
        maxOutputBytes: outputBytes,
        isolation,
        signal,
      },
      parts,
    );
    return { result: resultOf(code, timedOut), exitCode: code, output: stderr };
  } catch (error) {
    return signal.aborted ? null : notRun(`The check could not be started: ${reasonOf(error)}`);
  }
}

function resultOf(code: number | null, timedOut: boolean): CheckResult {
  if (timedOut) return 'timed_out';
  return code === 0 ? 'passed' : 'failed';
}

export function notRun(why: string): CommandEnd {
  return { result: 'skipped', exitCode: null, output: why };
}
