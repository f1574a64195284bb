import path from 'node:path';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { findRepositoryAbove } from '../../workspace/git/source/find-repository-above.ts';

/**
 * The repository around the current folder, or around the file to be written, as that file names it: a relative path
 * (`.`, `../..`) from a file inside it, so that the file can move with its repository. Null when there is none.
 */
export async function repositoryAround(target: string, { cwd }: Surroundings): Promise<string | null> {
  const folder = path.dirname(target);
  const top = (await findRepositoryAbove(cwd)) ?? (await findRepositoryAbove(folder));
  if (top === null) return null;
  const way = path.relative(folder, top) || '.';
  return way.split('/').every((step) => step === '..' || step === '.') ? way : top;
}
