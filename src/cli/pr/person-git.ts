import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { PullDetail } from '../../client/schema/pull.ts';
import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { runToEnd } from '../../process/run-to-end.ts';
import type { ProcessDeps } from '../../process/start-child.ts';
import { mergeHere } from '../../pulls/local/merge-here.ts';

/** A switch checks out files, which takes long in a large repository. */
const gitMs = 10 * 60_000;

/**
 * Runs git as the person who called: with their settings, hooks and filters, in their own folder. Only for commands that
 * they gave themselves. Rejects with `git_failed` when it fails.
 */
export async function personGit(args: readonly string[], cwd: string, surroundings: Surroundings): Promise<string> {
  const { code, stdout, stderr } = await runToEnd(
    { command: 'git', args, cwd, env: givenIn(surroundings), runId: 'git', timeoutMs: gitMs },
    depsOf(surroundings),
  );
  if (code === 0) return stdout;
  throw new BatonError('git_failed', `git ${args.join(' ')} failed: ${harmlessLine(stderr.trim().slice(-1_000))}`);
}

/**
 * Finishes a merge that the daemon refused because the base is checked out in a folder, where the daemon does not write:
 * the person called from that folder, so their own git does it. False when this is not such a refusal, or not that
 * folder; rejects where the folder is not ready for it.
 */
export async function finishMerge(
  thrown: unknown,
  { base, merge }: Pick<PullDetail, 'base' | 'merge'>,
  surroundings: Surroundings,
): Promise<boolean> {
  if (!(thrown instanceof BatonError)) return false;
  const { problem, folder, commit } = (thrown.details.data ?? {}) as Record<string, unknown>;
  if (problem !== 'checked_out' || typeof folder !== 'string' || typeof commit !== 'string') return false;
  const [here, there] = await Promise.all([surroundings.cwd, folder].map((each) => realpath(each).catch(() => each)));
  const inside = path.relative(there ?? '', here ?? '/');
  if (inside.startsWith('..') || path.isAbsolute(inside)) return false;
  const waiting = { folder, base, baseCommit: merge?.base_commit ?? '', commit };
  const refusal = await mergeHere(waiting, givenIn(surroundings), depsOf(surroundings));
  if (refusal === null) return true;
  throw new BatonError('command_refused', `Git in ${folder} cannot be moved forward now (${refusal.code}).`, {
    nextStep: 'Commit or stash your changes, then run the same command again.',
    details: { code: 'not_merged', data: { ...refusal, problem: refusal.code, folder } },
  });
}

function givenIn({ env }: Surroundings): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function depsOf({ clock, chance }: Surroundings): ProcessDeps {
  return { clock, containment: 'group_only', daemonId: chance.id() };
}
