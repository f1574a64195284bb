// @module-tag one-way
import path from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { createWorkspaceDiff } from '../../src/daemon/services/diff/workspace-diff.ts';
import { type LookScene, lookScene, oneCommit, scratchGit, shell } from '../workspace/git/examine-scene.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';

const canary = 'canary';

/** Ways in which an agent makes its repository read another one, which it may not see itself. */
const ways: Readonly<Record<string, (foreign: string) => string>> = {
  'a file .git that names it': (foreign) => `rm -rf .git; echo 'gitdir: ${foreign}' > .git`,
  'its objects and its commit': (foreign) =>
    `echo '${foreign}/objects' > .git/objects/info/alternates; cp '${foreign}/refs/heads/main' .git/refs/heads/main`,
  'a link in the place of the objects': (foreign) =>
    `cp '${foreign}/refs/heads/main' .git/refs/heads/main; rm -rf .git/objects; ln -s '${foreign}/objects' .git/objects`,
  'a common directory': (foreign) => `echo '${foreign}' > .git/commondir`,
};

async function shown({ workspace, places, look }: LookScene, checkout: Awaited<ReturnType<LookScene['asCheckout']>>) {
  const diff = createWorkspaceDiff({
    ...{ git: scratchGit(), places, clock: systemClock },
    findCheckout: async () => checkout,
  });
  return { diff: await diff(workspace), facts: await look(checkout, { commits: 20 }) };
}

it.each(Object.entries(ways))('the repository of another project is never shown to an agent: %s', async (_, way) => {
  const foreign = scratchFolder();
  shell(`${oneCommit}; echo ${canary} > secret; git add -A; git commit -qm 'The ${canary}'`, foreign);
  const scene = lookScene();
  const checkout = await scene.asCheckout();
  const before = await shown(scene, checkout);
  expect(before).toMatchObject({ diff: { why_none: null }, facts: { git: { ahead: 0 } } });
  scene.agent(way(path.join(foreign, '.git')));
  const { diff, facts } = await shown(scene, checkout);
  expect(JSON.stringify([diff, facts])).not.toContain(canary);
  expect(diff).toMatchObject({ head: null, files: [], why_none: expect.any(String) });
  expect(facts).toMatchObject({ git: null });
});
