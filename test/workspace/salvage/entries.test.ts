import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { pruneSalvage } from '../../../src/workspace/salvage/prune-salvage.ts';
import { rejection } from '../scratch-folder.ts';
import { contentsOf, gitIn, makeRepository, requestFor, salvageScene, savedBy, write } from './salvage-scene.ts';

describe('a workspace without a repository', () => {
  it('is not saved unless the settings say so', async () => {
    const { salvage, workspace } = salvageScene();
    write(workspace, { 'a.txt': 'a' });
    expect(await salvage.save(requestFor(workspace))).toEqual({ outcome: 'not_wanted' });
  });

  // @conforms git.24
  it('is archived completely, with empty folders, links and unusual names, and restored', async () => {
    const { salvage, workspace, folder, places } = salvageScene({ archive: true });
    write(workspace, {
      'a.txt': 'a\0\xff',
      'deep/er/b': 'b',
      'line\nend': 'x',
      '-v': 'y',
      '@LongLink': 'z',
      [`${'n'.repeat(200)}`]: 'long',
    });
    mkdirSync(path.join(workspace, 'empty'));
    symlinkSync('nowhere', path.join(workspace, 'link'));
    writeFileSync(Buffer.concat([Buffer.from(`${workspace}/`), Buffer.from([0xff, 0xfe])]), 'bytes', { mode: 0o755 });
    execFileSync('mkfifo', [path.join(workspace, 'pipe')]);
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    expect(work).toMatchObject({ name: 'T-1/run-1', kind: 'archive', commits: 0 });
    expect(savedBy(await salvage.save(requestFor(workspace, { runId: 'run-2' })))).toEqual([work]);
    rmSync(path.join(workspace, 'pipe'));
    const files = contentsOf(workspace);
    const restored = path.join(folder, 'restored');
    await salvage.restore(await salvage.find('t-1'), restored);
    expect(readdirSync(restored)).toContain('pipe');
    rmSync(path.join(restored, 'pipe'));
    expect(contentsOf(restored)).toEqual(files);
    expect(existsSync(path.join(restored, 'empty'))).toBe(true);
    expect(await salvage.diff(work as never, { stat: true })).toContain('deep/er/b');

    write(workspace, { 'a.txt': 'other' });
    expect(savedBy(await salvage.save(requestFor(workspace)))).toMatchObject([{ name: 'T-1/run-1-2' }]);
    expect(await salvage.list()).toHaveLength(2);
    for (const each of await salvage.list()) await salvage.drop(each);
    expect(await salvage.list()).toEqual([]);
    expect(readdirSync(path.join(places.archives, 'T-1'))).toEqual([]);
  });
});

describe('saved work', () => {
  it('is found by its name, its issue and its workspace key, the newest first', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace);
    await salvage.save(requestFor(workspace));
    write(workspace, { 'b.txt': 'b' });
    await salvage.save(requestFor(workspace, { runId: 'run-2' }));
    for (const wanted of ['T-1/run-2', 't-1', 'id-1', 'T-1'])
      expect((await salvage.find(wanted)).name).toBe('T-1/run-2');
    expect((await salvage.find('T-1/run-1')).name).toBe('T-1/run-1');
    for (const wanted of ['', 'T-2', 'T-1/', 'run-1'])
      expect((await rejection(salvage.find(wanted))).code).toBe('salvage_not_found');
  });

  it('is shown as a diff to the commit it is based on', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace);
    write(workspace, { 'a.txt': 'two\n', 'caf\u00e9.txt': 'x\n' });
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    if (work === undefined) throw new Error('nothing');
    expect(await salvage.diff(work, { stat: false })).toMatch(/-one\n\+two\n/);
    expect(await salvage.diff(work, { stat: true })).toContain('caf\u00e9.txt');
  });

  it('is not restored over existing files, and leaves nothing behind when that fails', async () => {
    const { salvage, workspace, folder } = salvageScene();
    makeRepository(workspace);
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    if (work === undefined) throw new Error('nothing');
    const to = path.join(folder, 'to');
    write(to, { 'mine.txt': 'mine' });
    expect((await rejection(salvage.restore(work, to))).code).toBe('restore_refused');
    expect((await rejection(salvage.restore(work, path.join(to, 'mine.txt')))).code).toBe('restore_refused');
    expect(contentsOf(to)).toEqual(new Map([['mine.txt', 'file mine']]));
    const other = path.join(folder, 'other');
    await rejection(salvage.restore({ ...work, name: 'T-1/gone' }, other));
    expect(existsSync(other)).toBe(false);
    mkdirSync(other);
    await salvage.restore(work, other);
    expect(gitIn(other, 'status', '--porcelain')).toBe('');
  });

  it('is dropped by age; newer work stays', async () => {
    const { salvage, workspace, places } = salvageScene();
    makeRepository(workspace);
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    const savedAt = work?.savedAt ?? 0;
    expect(await pruneSalvage(salvage, { olderThanMs: 1_000, now: savedAt + 1_000, dryRun: false })).toEqual([]);
    expect(await pruneSalvage(salvage, { olderThanMs: 1_000, now: savedAt + 1_001, dryRun: true })).toEqual([work]);
    expect(await salvage.list()).toEqual([work]);
    expect(await pruneSalvage(salvage, { olderThanMs: 1_000, now: savedAt + 1_001, dryRun: false })).toEqual([work]);
    expect(await salvage.list()).toEqual([]);
    expect(gitIn(places.salvage, 'for-each-ref')).toBe('');
  });

  it('does not exist when saving is cancelled, and can be saved again', async () => {
    const stop = new AbortController();
    const { salvage, workspace, places } = salvageScene({
      around: (git) => ({
        ask: (call) => git.ask(call),
        run: (call) => {
          if (call.args[0] === 'add') stop.abort(new Error('enough'));
          return git.run(call);
        },
      }),
    });
    makeRepository(workspace);
    await expect(salvage.save(requestFor(workspace, { signal: stop.signal }))).rejects.toThrow('enough');
    expect(readdirSync(places.scratch)).toEqual([]);
    expect(await salvage.list()).toEqual([]);
    expect((await salvage.save(requestFor(workspace))).outcome).toBe('saved');
  });

  it('of different workspaces is saved at the same time', async () => {
    const { salvage, workspace, places } = salvageScene();
    const all = Array.from({ length: 6 }, (_, number) => `${workspace}${number}`);
    for (const [number, each] of all.entries()) makeRepository(each, { 'a.txt': `${number}` });
    await Promise.all(all.map((each) => salvage.save(requestFor(each))));
    expect(await salvage.list()).toHaveLength(6);
    gitIn(places.salvage, 'fsck', '--strict');
    expect(readdirSync(places.scratch)).toEqual([]);
  });

  it('is still found when the settings name another repository', async () => {
    const { salvage, workspace, folder, source } = salvageScene({ local: true });
    makeRepository(source);
    makeRepository(workspace, { 'z.txt': 'z' });
    await salvage.save(requestFor(workspace));
    expect(await salvageScene({ folder }).salvage.list()).toHaveLength(1);
  });

  it('is not hidden by a reference of another program', async () => {
    const { salvage, workspace, source, logger } = salvageScene({ local: true });
    makeRepository(source);
    gitIn(source, 'update-ref', 'refs/baton/salvage/T-1/run-1', 'HEAD');
    makeRepository(workspace, { 'z.txt': 'z' });
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    expect(work?.name).toBe('T-1/run-1-2');
    expect(await salvage.list()).toEqual([work]);
    expect(logger.events()).toContain('salvage_ref_foreign');
  });

  it('goes to the state folder when the local repository is missing', async () => {
    const { salvage, workspace, places } = salvageScene({ local: true });
    makeRepository(workspace);
    expect(savedBy(await salvage.save(requestFor(workspace)))).toMatchObject([{ repository: places.salvage }]);
  });
});
