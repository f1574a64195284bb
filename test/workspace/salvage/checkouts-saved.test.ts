import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { createCheckouts } from '../../../src/workspace/git/checkout/checkouts.ts';
import type { GitCall } from '../../../src/workspace/git/git.ts';
import { createSalvage } from '../../../src/workspace/salvage/create-salvage.ts';
import { createWorkspaceResources } from '../../../src/workspace/workspace-resources.ts';
import { memoryLogger } from '../../fake/memory-logger.ts';
import { settings as fakeSettings } from '../../fake/settings.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { contentsOf, gitIn, makeRepository, requestFor, savedBy, write } from './salvage-scene.ts';

/** A workspace that Baton filled from a local or a remote repository. */
async function filled(
  strategy: 'worktree' | 'clone',
  isLocal: boolean,
  files: Record<string, string> = { 'a.txt': 'one\n' },
) {
  const folder = scratchFolder();
  const source = path.join(folder, 'source');
  makeRepository(source, files);
  const workspace = path.join(folder, 'workspaces', 'T-1');
  mkdirSync(workspace, { recursive: true });
  const parts = {
    clock: systemClock,
    containment: 'group_only',
    daemonId: 'salvage-test',
    daemonEnv: { PATH: process.env.PATH, HOME: folder },
    logger: memoryLogger(),
    stateDir: path.join(folder, 'state'),
  } as const;
  const resources = createWorkspaceResources(parts);
  const calls: GitCall[] = [];
  const git = {
    run: (call: GitCall) => {
      calls.push(call);
      return resources.git.run(call);
    },
    ask: (call: GitCall) => {
      calls.push(call);
      return resources.git.ask(call);
    },
  };
  const repo = { location: isLocal ? source : `file://${source}`, shown: isLocal ? source : 'far-away', isLocal };
  const { workspace: usual } = fakeSettings();
  const settings = { ...usual, repo, strategy, base: 'main', copyFrom: source };
  const checkouts = createCheckouts({ ...parts, ...resources, settings });
  await checkouts.make({ workspace, branch: 'baton/t-1' });
  const salvage = createSalvage({
    ...parts,
    ...resources,
    git,
    project: 'test',
    repo,
    archive: false,
    findCheckout: (each) => checkouts.find(each),
  });
  return { folder, source, workspace, salvage, checkouts, calls, places: resources.places };
}

for (const strategy of ['worktree', 'clone'] as const) {
  for (const isLocal of [true, false]) {
    describe(`a ${strategy} of a ${isLocal ? 'local' : 'remote'} repository`, () => {
      it('has nothing to save when it is new, and restores everything after work', async () => {
        const { folder, workspace, salvage, source, places } = await filled(strategy, isLocal);
        expect(await salvage.save(requestFor(workspace))).toEqual({ outcome: 'nothing' });
        write(workspace, { 'b.txt': 'committed' });
        gitIn(workspace, 'add', '-A');
        gitIn(workspace, 'commit', '-qm', 'mine');
        const head = gitIn(workspace, 'rev-parse', 'HEAD');
        write(workspace, { 'a.txt': 'two\r\n', 'c.txt': 'new' });
        const files = contentsOf(workspace);
        const moved = path.join(path.dirname(workspace), '+removing+T-1');
        renameSync(workspace, moved);
        const [work] = savedBy(await salvage.save(requestFor(workspace, { folder: moved })));
        expect(work).toMatchObject({ commits: 1, files: 2, branch: 'baton/t-1', head });
        expect(work?.repository).toBe(isLocal ? path.join(source, '.git') : places.salvage);
        rmSync(moved, { recursive: true });
        rmSync(places.checkouts, { recursive: true });
        const restored = path.join(folder, 'restored');
        await salvage.restore(await salvage.find('T-1'), restored);
        expect(contentsOf(restored)).toEqual(files);
        expect(gitIn(restored, 'rev-parse', 'HEAD', 'baton/t-1')).toBe(`${head}\n${head}`);
        expect(existsSync(path.join(restored, '.git', 'objects', 'info', 'alternates'))).toBe(false);
        gitIn(restored, 'fsck');
      });

      it('is saved also when the agent removed or replaced its .git', async () => {
        const { workspace, salvage } = await filled(strategy, isLocal);
        write(workspace, { 'b.txt': 'new' });
        rmSync(path.join(workspace, '.git'), { recursive: true });
        expect(savedBy(await salvage.save(requestFor(workspace)))).toMatchObject([{ files: 1, within: '' }]);
        gitIn(workspace, 'init', '-q');
        expect(savedBy(await salvage.save(requestFor(workspace)))).not.toEqual([]);
      });
    });
  }
}

it('does not save an unchanged file to which the checkout gave other line ends', async () => {
  const { workspace, salvage, checkouts } = await filled('worktree', true, {
    '.gitattributes': '*.txt eol=crlf\n',
    'a.txt': 'a\nb\n',
  });
  expect(contentsOf(workspace).get('a.txt')).toBe('file a\r\nb\r\n');
  // Git trusts the time of a file only if the index was written in a later second.
  const { shadow = '' } = (await checkouts.find(workspace)) ?? {};
  utimesSync(path.join(shadow, 'index'), new Date(), new Date(Date.now() + 1_000));
  const { mtimeMs } = statSync(path.join(workspace, 'a.txt'));
  await expect.poll(() => Math.floor(Date.now() / 1_000)).toBeGreaterThan(Math.floor(mtimeMs / 1_000));
  expect(await salvage.save(requestFor(workspace))).toEqual({ outcome: 'nothing' });
});

it('saves a change that keeps size and time', async () => {
  const { workspace, salvage } = await filled('worktree', true);
  const file = path.join(workspace, 'a.txt');
  const { atime, mtime } = statSync(file);
  write(workspace, { 'a.txt': 'two\n' });
  utimesSync(file, atime, mtime);
  expect(savedBy(await salvage.save(requestFor(workspace)))).toMatchObject([{ files: 1 }]);
  chmodSync(file, 0o755);
  expect(savedBy(await salvage.save(requestFor(workspace)))).toMatchObject([{ files: 1, name: 'T-1/run-1-2' }]);
});

it('is saved with a bounded number of git calls, none of them in a directory that an agent can write', async () => {
  const { workspace, salvage, calls, places } = await filled('worktree', true);
  write(workspace, { 'a.txt': 'two\n' });
  await salvage.save(requestFor(workspace));
  expect(calls.length).toBeLessThanOrEqual(18);
  const agents = path.join(places.checkouts);
  expect(calls.filter(({ gitDir }) => gitDir?.startsWith(agents) || gitDir?.startsWith(workspace))).toEqual([]);
});
