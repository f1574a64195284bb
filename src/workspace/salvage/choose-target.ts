import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import type { Git } from '../git/git.ts';
import type { Repository } from './repository.ts';
import type { SalvageRequest } from './salvage.ts';
import type { SalvageParts } from './salvage-parts.ts';
import { objectsIn, referencePart } from './saved-commits.ts';
import { cachesOf, localTarget, ownTarget, type Target } from './target.ts';

const mostListBytes = 256 * 1024 * 1024;

/**
 * The repository that receives the work: the person's local one for the workspace's own repository, otherwise one of
 * Baton's. Repositories inside the workspace have other histories, which do not belong into the person's repository.
 */
export async function chooseTarget(
  repository: Repository,
  request: SalvageRequest,
  parts: SalvageParts,
): Promise<Target> {
  const { git, places, repo, logger } = parts;
  const { directory, within, checkout } = repository;
  const { objectFormat } = directory;
  if (within === '' && repo?.isLocal === true) {
    const local = await localTarget(git, repo, parts.mostLocalBytes).catch((error: unknown) => {
      // Only when git says that it does not exist; after a cancellation or a timeout the caller tries again later.
      if (!(error instanceof BatonError) || error.code !== 'git_failed') throw error;
      logger.warn('salvage_redirected', {
        repository: repo.shown,
        error,
      });
      return null;
    });
    const isFit = local?.objectFormat === objectFormat;
    if (local !== null && isFit && (await withoutParents(git, repository, local)).length === 0) return local;
  }
  const shown = [checkout?.repository, repo?.shown].filter((each) => each !== undefined);
  const caches = within === '' ? await cachesOf(places, { shown, borrowed: checkout?.borrowed ?? [] }) : [];
  const target = await ownTarget({ places, objectFormat, caches, shallow: null });
  const commits = await withoutParents(git, repository, target);
  if (commits.length === 0) return target;
  const key = referencePart(path.basename(request.workspace));
  return ownTarget({ places, objectFormat, caches: [], shallow: { key, commits } });
}

/**
 * The commits of a shallow clone whose parents are really missing; parents that are only declared missing are saved.
 */
async function withoutParents(git: Git, { directory }: Repository, target: Target): Promise<string[]> {
  const { shallow, objects } = directory;
  if (shallow.length === 0) return [];
  const call = { gitDir: target.gitDir, borrowed: objects, maxOutputBytes: mostListBytes };
  const asked = await git.run({ ...call, args: ['cat-file', '--batch'], stdin: `${shallow.join('\n')}\n` });
  const parentsOf = parentsIn(asked);
  const all = [...new Set([...parentsOf.values()].flat())];
  if (all.length === 0) return [];
  const text = await git.run({
    ...call,
    args: ['cat-file', '--batch-check=%(objectname) %(objecttype)'],
    stdin: `${all.join('\n')}\n`,
  });
  const lines = text.split('\n');
  const missing = new Set(all.filter((_id, index) => !(lines[index] ?? '').endsWith(' commit')));
  return [...parentsOf].filter(([, parents]) => parents.some((parent) => missing.has(parent))).map(([id]) => id);
}

/** The parents of each commit in the output of `cat-file --batch`; other objects are left out. */
function parentsIn(objects: string): Map<string, string[]> {
  const parentsOf = new Map<string, string[]>();
  for (const { id, type, content } of objectsIn(objects)) {
    if (type !== 'commit') continue;
    const [header = ''] = content.split('\n\n', 1);
    parentsOf.set(
      id,
      [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent = '']) => parent),
    );
  }
  return parentsOf;
}
