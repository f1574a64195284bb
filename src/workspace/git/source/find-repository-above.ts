import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { lstatOrNull } from '../../file-system.ts';

/**
 * The nearest folder, this one or one above it, that has a `.git`: the top level of the repository around it. Null when
 * there is none, or when a folder on the way may not be looked into. An empty folder of that name is none: sandboxes of
 * agents leave such ones behind, and git passes them over too.
 */
export async function findRepositoryAbove(folder: string): Promise<string | null> {
  if (await isRepository(path.join(folder, '.git'))) return folder;
  const parent = path.dirname(folder);
  return parent === folder ? null : findRepositoryAbove(parent);
}

async function isRepository(place: string): Promise<boolean> {
  const found = await lstatOrNull(place).catch(() => null);
  if (found === null) return false;
  if (!found.isDirectory()) return true;
  const inside = await readdir(place).catch(() => null);
  return inside === null || inside.length > 0;
}
