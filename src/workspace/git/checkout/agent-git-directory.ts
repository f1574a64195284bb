import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { originConfig, packedReferences, writeAlternates } from '../bare-repository.ts';
import type { FreshSource } from '../cache/cache.ts';
import { quotedByGit } from '../git.ts';
import { plainConfig } from '../shadow/shadow-git.ts';

export interface NewGitDirectory {
  readonly folder: string;
  readonly branch: string;
  /** The commit that the branch begins at. */
  readonly start: string;
  readonly source: FreshSource;
  /** The source as the agent may see it. */
  readonly shown: string;
  readonly borrowed: readonly string[];
}

/**
 * Writes the git directory that an agent will work with, as a clone of the source would have made it. It has no hooks and
 * shares nothing that can be written. Until the agent comes it is Baton's own, so git may run in it.
 */
export async function writeAgentGitDirectory(wanted: NewGitDirectory): Promise<void> {
  const { folder, branch, start, source, borrowed } = wanted;
  const { base, baseCommit, branchCommit, objectFormat } = source;
  for (const part of [
    'objects/pack',
    'objects/info',
    'refs/heads',
    'refs/tags',
    'refs/remotes/origin',
    'info',
    'hooks',
  ]) {
    await mkdir(path.join(folder, part), { recursive: true });
  }
  const references = {
    [`refs/heads/${branch}`]: start,
    [`refs/remotes/origin/${base}`]: baseCommit,
    ...(branchCommit === null ? {} : { [`refs/remotes/origin/${branch}`]: branchCommit }),
  };
  await writeFile(path.join(folder, 'packed-refs'), packedReferences(references));
  await writeFile(path.join(folder, 'refs/remotes/origin/HEAD'), `ref: refs/remotes/origin/${base}\n`);
  await writeFile(path.join(folder, 'config'), `${plainConfig(objectFormat)}${remoteConfig(wanted)}`);
  await writeFile(path.join(folder, 'info', 'exclude'), '');
  await writeAlternates(folder, borrowed);
  await writeFile(path.join(folder, 'HEAD'), `ref: refs/heads/${branch}\n`);
}

/** A branch that the source does not have yet gets no upstream: git would call it gone. */
function remoteConfig({ shown, branch, source }: NewGitDirectory): string {
  const origin = `${originConfig(shown)}${baseConfig(source)}`;
  if (source.branchCommit === null) return origin;
  return `${origin}[branch ${quotedByGit(branch)}]\n\tremote = origin\n\tmerge = ${quotedByGit(`refs/heads/${branch}`)}\n`;
}

/**
 * A source that keeps the base of a remote host may have a branch of the same name that is behind. `origin/BASE` is the kept
 * one, so that every agent that fetches and rebases gets the current base.
 */
function baseConfig({ base, baseReference }: FreshSource): string {
  const own = `refs/heads/${base}`;
  if (baseReference === own) return '';
  const lines = [`^${own}`, `+${baseReference}:refs/remotes/origin/${base}`];
  return lines.map((line) => `\tfetch = ${quotedByGit(line)}\n`).join('');
}
