import { existsSync, mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { pruneCaches } from '../../../src/workspace/git/cache/prune-caches.ts';
import { cacheFolder, oneAtATime } from '../../../src/workspace/git/checkout/checkouts.ts';
import type { GitPlaces } from '../../../src/workspace/git/git-places.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { git, scratchCheckouts, scratchRepository } from './scratch-repository.ts';

const longAgo = new Date(2020, 1, 1);
const later = Date.now() + 60_000;

/** Two repositories; the first one has a workspace. */
async function scene() {
  const folder = scratchFolder();
  const [used, unused] = ['used', 'unused'].map((name) => scratchRepository(path.join(folder, name)));
  const first = scratchCheckouts(folder, used ?? '');
  await first.checkouts.make({ workspace: first.workspace('T-1'), branch: 'baton/t-1' });
  const second = scratchCheckouts(folder, unused ?? '');
  const place = second.workspace('T-2');
  await second.checkouts.make({ workspace: place, branch: 'baton/t-2' });
  await second.checkouts.forget(place);
  const { places } = first;
  const prune = (more: { dryRun?: boolean; unusedBefore?: number; current?: string[] } = {}) =>
    pruneCaches({ places, oneAtATime, current: [], unusedBefore: later, dryRun: false, ...more });
  const unusedCache = cacheFolder(places, { shown: unused ?? '' });
  return { folder, first, second, places, prune, unusedCache, usedCache: cacheFolder(places, { shown: used ?? '' }) };
}

const names = ({ caches }: GitPlaces): string[] => readdirSync(caches).toSorted();

describe('a copy of a repository', () => {
  // @conforms 4.130
  it('is removed when nothing uses it any more, and a dry run removes nothing', async () => {
    const { places, prune, unusedCache, usedCache, second, first } = await scene();
    const planned = await prune({ dryRun: true });
    expect(planned).toMatchObject({ count: 1 });
    expect(planned.bytes).toBeGreaterThan(1_000);
    expect(existsSync(unusedCache)).toBe(true);
    expect(await prune()).toEqual(planned);
    expect(names(places)).toEqual([path.basename(usedCache)]);
    expect(readdirSync(places.scratch)).toEqual([]);
    expect(await prune()).toEqual({ count: 0, bytes: 0 });
    expect(git(first.workspace('T-3'), '--git-dir', usedCache, 'fsck', '--full')).toBe('');
    // It comes back when it is needed.
    await second.checkouts.make({ workspace: second.workspace('T-4'), branch: 'baton/t-4' });
    expect(existsSync(unusedCache)).toBe(true);
  });

  it('stays when the settings name it, or something wrote to it lately', async () => {
    const { prune, unusedCache } = await scene();
    expect(await prune({ current: [unusedCache] })).toEqual({ count: 0, bytes: 0 });
    expect(await prune({ unusedBefore: longAgo.getTime() })).toEqual({ count: 0, bytes: 0 });
    expect(existsSync(unusedCache)).toBe(true);
  });

  it('stays while a checkout, another copy or saved work borrows from it', async () => {
    const { places, prune, unusedCache } = await scene();
    const borrowers = [
      path.join(places.checkouts, 'X-1+earlier-1/git'),
      path.join(places.checkouts, 'X-2/shadow'),
      path.join(places.caches, 'other.home.git'),
      places.salvage,
    ];
    for (const gitDir of borrowers) {
      const file = path.join(gitDir, 'objects/info/alternates');
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, `"${unusedCache}/objects"\n`);
      expect(await prune(), gitDir).toEqual({ count: 0, bytes: 0 });
      writeFileSync(file, '');
    }
    expect(await prune()).toMatchObject({ count: 1 });
    // The home of a remote host has branches with work.
    expect(names(places)).toContain('other.home.git');
  });

  it('that was damaged goes with the copy that borrows from it', async () => {
    const { places, prune, unusedCache } = await scene();
    const damaged = `${unusedCache}+damaged-17`;
    renameSync(unusedCache, damaged);
    mkdirSync(path.join(unusedCache, 'objects/info'), { recursive: true });
    writeFileSync(path.join(unusedCache, 'objects/info/alternates'), `${damaged}/objects\n`);
    for (const part of ['', 'objects']) utimesSync(path.join(damaged, part), longAgo, longAgo);
    expect(await prune({ current: [unusedCache] })).toMatchObject({ count: 0 });
    await prune();
    await prune();
    expect(names(places).filter((name) => name.includes('unused'))).toEqual([]);
  });
});
