import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { runToEnd } from '../../process/run-to-end.ts';

/** A merge checks out files, which takes long in a large repository. */
const gitMs = 10 * 60_000;

/**
 * Runs git as the person who called: with their settings, hooks and filters, in their own folder. Only for commands that
 * they gave themselves. Rejects with `git_failed` when it fails.
 */
export async function personGit(args: readonly string[], cwd: string, surroundings: Surroundings): Promise<string> {
  const { clock, chance, env } = surroundings;
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const { code, stdout, stderr } = await runToEnd(
    { command: 'git', args, cwd, env: Object.fromEntries(given), runId: chance.id(), timeoutMs: gitMs },
    { clock, containment: 'group_only', daemonId: chance.id() },
  );
  if (code === 0) return stdout;
  throw new BatonError('git_failed', `git ${args.join(' ')} failed: ${harmlessLine(stderr.trim().slice(-1_000))}`);
}

/**
 * Where the person's own git can finish a merge that the daemon refused because the base is checked out: they called
 * from that folder, and it has no uncommitted changes. Null when that is not so; rejects when it is not clean.
 */
export async function forwardFolder(
  thrown: unknown,
  surroundings: Surroundings,
): Promise<{ readonly folder: string; readonly commit: string } | null> {
  if (!(thrown instanceof BatonError)) return null;
  const { problem, folder, commit } = (thrown.details.data ?? {}) as Record<string, unknown>;
  if (problem !== 'checked_out' || typeof folder !== 'string' || typeof commit !== 'string') return null;
  const [here, there] = await Promise.all([surroundings.cwd, folder].map((each) => realpath(each).catch(() => each)));
  const inside = path.relative(there ?? '', here ?? '/');
  if (inside.startsWith('..') || path.isAbsolute(inside)) return null;
  const changes = await personGit(['status', '--porcelain', '--untracked-files=no'], folder, surroundings);
  if (changes.trim() === '') return { folder, commit };
  throw new BatonError('command_refused', `${folder} has changes that are not committed.`, {
    nextStep: 'Commit or stash them, then run the same command again.',
    details: { code: 'not_merged', data: { problem: 'dirty', folder } },
  });
}
