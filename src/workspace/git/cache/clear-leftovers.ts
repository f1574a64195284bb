import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { lstatOrNull } from '../../file-system.ts';

/**
 * Removes the leftovers of a killed git from a repository of Baton's own: its locks, and unfinished files. Only for a
 * caller that has exclusive use of that repository.
 */
export async function clearLeftovers(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (name.endsWith('.lock')) await rm(path.join(folder, name), { force: true });
  }
  for (const name of await readdir(path.join(folder, 'refs'), { recursive: true }).catch(() => [])) {
    if (name.endsWith('.lock')) await rm(path.join(folder, 'refs', name), { force: true });
  }
  for (const part of ['objects', 'objects/pack']) {
    for (const name of await namesIn(path.join(folder, part))) {
      if (/^tmp_|^incoming-/.test(name)) await rm(path.join(folder, part, name), { recursive: true, force: true });
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await lstatOrNull(folder))?.isDirectory() === true ? await readdir(folder) : [];
}
