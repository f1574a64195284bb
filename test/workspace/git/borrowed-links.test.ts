import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readGitDirectory } from '../../../src/workspace/git/read/read-git-directory.ts';
import { rejection, scratchFolder } from '../scratch-folder.ts';
import { shell } from './examine-scene.ts';
import { commit, git, scratchCheckouts, scratchRepository } from './scratch-repository.ts';

const branch = 'baton/t-1';

/** A workspace, and a repository that its agent must not reach. */
async function scene(strategy: 'worktree' | 'clone') {
  const folder = scratchFolder();
  const source = scratchRepository(path.join(folder, 'source'));
  const secret = scratchRepository(path.join(folder, 'secret'));
  const hidden = commit(secret, { 'key.pem': 'private\n' });
  const scratch = scratchCheckouts(folder, source, { strategy });
  const place = scratch.workspace('T-1');
  const { gitDir } = await scratch.checkouts.make({ workspace: place, branch });
  return { ...scratch, folder, source, secret, hidden, place, gitDir };
}

type Scene = Awaited<ReturnType<typeof scene>>;

const ways: readonly (readonly [string, (at: Scene) => void])[] = [
  [
    'a link as the place to borrow from',
    ({ secret, place, gitDir }) => {
      symlinkSync(path.join(secret, '.git/objects'), path.join(place, 'l'));
      writeFileSync(path.join(gitDir, 'objects/info/alternates'), `${place}/l\n`, { flag: 'a' });
    },
  ],
  [
    'a link on the way to the place to borrow from',
    ({ secret, place, gitDir }) => {
      symlinkSync(secret, path.join(place, 'l'));
      writeFileSync(path.join(gitDir, 'objects/info/alternates'), `${place}/l/.git/objects\n`, { flag: 'a' });
    },
  ],
  [
    'packs that are links',
    ({ secret, gitDir }) => {
      git(secret, 'gc', '-q');
      const packs = path.join(secret, '.git/objects/pack');
      mkdirSync(path.join(gitDir, 'objects/pack'), { recursive: true });
      for (const name of readdirSync(packs))
        symlinkSync(path.join(packs, name), path.join(gitDir, 'objects/pack', name));
    },
  ],
  [
    'objects that are links',
    ({ secret, gitDir }) => {
      shell(
        `cd '${secret}/.git/objects'; for f in ??/*; do mkdir -p '${gitDir}/objects/'$(dirname $f)
          test -e '${gitDir}/objects/'$f || ln -s "$PWD/$f" '${gitDir}/objects/'$f; done`,
        '/',
      );
    },
  ],
  [
    'a folder of objects that is a link',
    ({ secret, gitDir }) => {
      shell(
        `cd '${secret}/.git/objects'; for f in ??; do rm -rf '${gitDir}/objects/'$f; ln -s "$PWD/$f" '${gitDir}/objects/'; done`,
        '/',
      );
    },
  ],
  [
    'a git directory of its own that borrows by a link',
    ({ secret, place, gitDir }) => {
      shell(`git init -q --bare more; ln -s '${secret}/.git/objects/'?? more/objects/`, place);
      writeFileSync(path.join(gitDir, 'objects/info/alternates'), `${place}/more/objects\n`, { flag: 'a' });
    },
  ],
];

describe.each(['worktree', 'clone'] as const)('the branch of a %s', (strategy) => {
  // @conforms git.32
  it.each(ways)('is not published with %s', async (_what, plant) => {
    const at = await scene(strategy);
    plant(at);
    // Written as a file, because the agent's git might do something else.
    mkdirSync(path.join(at.gitDir, 'refs/heads/baton'), { recursive: true });
    writeFileSync(path.join(at.gitDir, 'refs/heads', branch), `${at.hidden}\n`);
    expect(git(at.place, 'show', `${branch}:key.pem`)).toBe('private');
    expect(await at.checkouts.publish(at.place)).toMatchObject({ outcome: 'refused' });
    expect(() => git(at.source, 'cat-file', '-e', at.hidden)).toThrow();
    // The salvage does not read it either: unknown counts as dirty.
    expect((await rejection(readGitDirectory(at.gitDir))).code).toBe('workspace_unavailable');
  });
});

describe('a state folder behind a link', () => {
  it('does not make its checkouts suspicious', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    mkdirSync(path.join(folder, 'real'));
    symlinkSync(path.join(folder, 'real'), path.join(folder, 'link'));
    const { checkouts } = scratchCheckouts(path.join(folder, 'link'), source);
    const place = path.join(folder, 'T-1');
    mkdirSync(place);
    await checkouts.make({ workspace: place, branch });
    const work = commit(place, { 'a.txt': '1\n' });
    expect(await checkouts.publish(place)).toMatchObject({ commit: work });
    expect(git(source, 'rev-parse', branch)).toBe(work);
  });
});
