// @module-tag full
// @module-tag one-way
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { git } from '../workspace/git/scratch-repository.ts';
import { makeRepository, requestFor, salvageScene, savedBy, write } from '../workspace/salvage/salvage-scene.ts';

it.each([
  ['more than 100 MiB', 101, true],
  ['a little less', 99, false],
])(
  '%s of junk, by the bound that a daemon has, goes outside of the repository: %i MiB',
  { timeout: 240_000 },
  async (_, mebibytes, isOutside) => {
    const { salvage, workspace, source, places, logger } = salvageScene({ local: true });
    makeRepository(source);
    git(workspace, 'clone', '-q', source, '.');
    for (let number = 0; number < mebibytes; number++)
      write(workspace, { [`junk-${number}`]: randomBytes(1024 * 1024) });
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    expect(work?.repository === places.salvage).toBe(isOutside);
    expect(logger.lines.some(({ event }) => event === 'salvage_too_large')).toBe(isOutside);
  },
);
