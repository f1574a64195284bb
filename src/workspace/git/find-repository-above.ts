import path from 'node:path';
import { lookAt } from '../look-at.ts';

/**
 * The nearest folder, this one or one above it, that has a `.git`: the top level of the repository around it. Null when
 * there is none, or when a folder on the way may not be looked into.
 */
export async function findRepositoryAbove(folder: string): Promise<string | null> {
  const found = await lookAt(path.join(folder, '.git')).catch(() => null);
  if (found !== null) return folder;
  const parent = path.dirname(folder);
  return parent === folder ? null : findRepositoryAbove(parent);
}
