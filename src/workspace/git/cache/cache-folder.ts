import { access, readdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { harmlessLine } from '../../../core/harmless-line.ts';
import { reasonOf } from '../../error-reason.ts';
import { lookAt } from '../../look-at.ts';
import type { ObjectFormat } from '../shadow/shadow-git.ts';
import type { CacheParts } from './cache.ts';

/** Why this is no cache of such objects; null when it is one. Whether its objects can be read shows when they are. */
export async function whatIsWrong(folder: string, objectFormat: ObjectFormat): Promise<string | null> {
  try {
    for (const name of ['HEAD', 'refs', 'objects/pack']) await access(path.join(folder, name));
    const config = await readFile(path.join(folder, 'config'), 'utf8');
    if (!config.includes('[core]')) return 'its configuration is gone';
    return hasFormat(config, objectFormat) ? null : 'its objects are of another kind';
  } catch (error) {
    return reasonOf(error);
  }
}

const asideMark = '+damaged-';

/** Makes room for a new one, and says so. */
export async function putAside({ folder, clock, logger, repo }: CacheParts, damage: string): Promise<void> {
  const aside = `${folder}${asideMark}${clock.now()}`;
  await rename(folder, aside);
  logger.warn('repository_cache_replaced', {
    repository: repo.shown,
    kept: aside,
    reason: harmlessLine(damage),
  });
}

/** The object directories of all caches of this source that were put aside, as far as they have such objects. */
export async function earlierObjects(folder: string, objectFormat: ObjectFormat): Promise<string[]> {
  const parent = path.dirname(folder);
  const prefix = `${path.basename(folder)}${asideMark}`;
  const found: string[] = [];
  for (const name of (await readdir(parent)).sort().reverse()) {
    const objects = path.join(parent, name, 'objects');
    if (!name.startsWith(prefix) || !(await lookAt(objects).catch(() => null))?.isDirectory()) continue;
    const config = await readFile(path.join(parent, name, 'config'), 'utf8').catch(() => '');
    if (!config.includes('[core]') || hasFormat(config, objectFormat)) found.push(objects);
  }
  return found;
}

function hasFormat(config: string, objectFormat: ObjectFormat): boolean {
  return config.includes('objectFormat = sha256') === (objectFormat === 'sha256');
}
