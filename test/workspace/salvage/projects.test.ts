import { rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { pruneSalvage } from '../../../src/workspace/salvage/prune-salvage.ts';
import { rejection, scratchFolder } from '../scratch-folder.ts';
import { contentsOf, gitIn, makeRepository, requestFor, salvageScene, savedBy, write } from './salvage-scene.ts';

/** Two projects with their own state folders that work on one repository. */
function twoProjects() {
  const folder = scratchFolder();
  const one = salvageScene({ folder, local: true, project: 'one', state: 'state-one' });
  const two = salvageScene({ folder, local: true, project: 'two', state: 'state-two' });
  const { source, workspace } = one;
  makeRepository(source);
  rmSync(workspace, { recursive: true });
  gitIn(folder, 'clone', '-q', source, workspace);
  write(workspace, { 'a.txt': 'two\n' });
  const prune = (scene: typeof one) =>
    pruneSalvage(scene.salvage, { olderThanMs: 0, now: Date.now() + 60_000, dryRun: false });
  const references = () => gitIn(source, 'for-each-ref', '--format=%(refname)', 'refs/baton/salvage').split('\n');
  return { folder, source, workspace, one, two, prune, references };
}

const everywhere = { allProjects: true };

describe('two projects on one repository', () => {
  it('see only their own work, and that of the other on request', async () => {
    const { folder, workspace, one, two } = twoProjects();
    const [work] = savedBy(await one.salvage.save(requestFor(workspace)));
    if (work === undefined) throw new Error('nothing');
    expect(work.project).toBe('one');
    expect(await one.salvage.list()).toEqual([work]);
    expect(await two.salvage.list()).toEqual([]);
    expect(await two.salvage.list(everywhere)).toEqual([work]);
    for (const wanted of ['T-1', 'id-1', work.name]) {
      const error = await rejection(two.salvage.find(wanted));
      expect(error).toMatchObject({ code: 'salvage_not_found', details: { project: 'one' } });
      expect(error.message).toContain('"one"');
      expect(error.nextStep).toContain('--all-projects');
      expect(await two.salvage.find(wanted, everywhere)).toEqual(work);
    }
    expect((await rejection(two.salvage.find('T-9'))).details).toEqual({});
    const restored = path.join(folder, 'restored');
    await two.salvage.restore(await two.salvage.find('T-1', everywhere), restored);
    expect(contentsOf(restored)).toEqual(contentsOf(workspace));
  });

  it('do not treat the same work of the other as their own: the other may drop it', async () => {
    const { workspace, one, two, prune, references } = twoProjects();
    const [first] = savedBy(await one.salvage.save(requestFor(workspace)));
    const [second] = savedBy(await two.salvage.save(requestFor(workspace)));
    expect([first?.name, second?.name]).toEqual(['T-1/run-1', 'T-1/run-1-2']);
    expect(savedBy(await two.salvage.save(requestFor(workspace)))).toEqual([second]);
    expect((await two.salvage.find('T-1')).name).toBe('T-1/run-1-2');
    expect(await prune(one)).toEqual([first]);
    expect(references()).toEqual(['refs/baton/salvage/T-1/run-1-2']);
    expect(await two.salvage.list()).toEqual([second]);
  });

  // @conforms git.41
  it('never drop work that the other saved, neither by age nor by name', async () => {
    const { workspace, one, two, prune, references } = twoProjects();
    const [work] = savedBy(await one.salvage.save(requestFor(workspace)));
    if (work === undefined) throw new Error('nothing');
    expect(await prune(two)).toEqual([]);
    expect((await rejection(two.salvage.drop(work))).code).toBe('salvage_not_found');
    expect(references()).toEqual([work.reference]);
    expect(await prune(one)).toEqual([work]);
    expect(references()).toEqual(['']);
  });

  it('both see work from before projects were recorded, which is not dropped by age', async () => {
    const { source, workspace, one, two, prune, references } = twoProjects();
    const [work] = savedBy(await one.salvage.save(requestFor(workspace)));
    const text = gitIn(source, 'cat-file', 'commit', work?.commit ?? '');
    write(source, { '../old': `${text.replace('"project":"one",', '').replace(/"staged\w+":\d+,/g, '')}\n` });
    const old = gitIn(source, 'hash-object', '-t', 'commit', '-w', '../old');
    expect(old).not.toBe(work?.commit);
    gitIn(source, 'update-ref', work?.reference ?? '', old);
    for (const each of [one, two]) {
      const found = await each.salvage.find('T-1');
      expect(found).toMatchObject({ project: null, stagedFiles: null, commit: old });
      expect(await prune(each)).toEqual([]);
      await each.salvage.restore(found, `${workspace}-${each === one ? 'one' : 'two'}`);
    }
    expect(references()).toEqual([work?.reference]);
  });
});

it('keep their archives apart also when they used one state folder in turn', async () => {
  const folder = scratchFolder();
  const [one, two] = ['one', 'two'].map((project) => salvageScene({ folder, archive: true, project }));
  if (one === undefined || two === undefined) throw new Error('nobody');
  write(one.workspace, { 'a.txt': 'a' });
  const [first] = savedBy(await one.salvage.save(requestFor(one.workspace)));
  const [second] = savedBy(await two.salvage.save(requestFor(one.workspace)));
  expect(first).toMatchObject({ project: 'one', kind: 'archive' });
  expect(second).toMatchObject({ project: 'two', name: 'T-1/run-1-2' });
  const old = { olderThanMs: 0, now: Date.now() + 60_000, dryRun: false };
  expect(await pruneSalvage(one.salvage, old)).toEqual([first]);
  expect(await two.salvage.list()).toEqual([second]);
});
