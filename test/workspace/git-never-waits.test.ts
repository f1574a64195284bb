import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchGit } from './git/examine-scene.ts';
import { commit, git, scratchRepository } from './git/scratch-repository.ts';
import { rejection, scratchFolder } from './scratch-folder.ts';
import { scratchWorkspaces, visit } from './scratch-workspaces.ts';

/** Git itself would be allowed to wait for a minute and more. */
const soonMs = 20_000;

function pipe(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  execFileSync('mkfifo', [file]);
}

// @conforms git.34
describe('a pipe where git expects a file', () => {
  it.each(['.gitignore', 'src/deep/.gitattributes', 'nested/.gitignore'])(
    'named %s keeps the workspace at once, with the reason, and does not block an examination',
    async (name) => {
      const { workspaces, root } = scratchWorkspaces();
      const place = { path: path.join(root, 'T-1'), identifier: 'T-1' };
      scratchRepository(place.path);
      if (name.startsWith('nested')) scratchRepository(path.join(place.path, 'nested'));
      pipe(path.join(place.path, name));
      writeFileSync(path.join(path.dirname(path.join(place.path, name)), 'new.txt'), 'work');
      expect(await workspaces.remove(place, visit())).toMatchObject({
        outcome: 'kept',
        code: 'odd_git_file',
        reason: expect.stringContaining(name),
      });
      expect(await workspaces.examine(place.path)).toMatchObject({ git: null });
    },
    soonMs,
  );

  it('has no effect where git does not open it', async () => {
    const { workspaces, root } = scratchWorkspaces();
    const place = { path: path.join(root, 'T-1'), identifier: 'T-1' };
    scratchRepository(place.path);
    pipe(path.join(place.path, 'src', 'pipe'));
    pipe(path.join(root, 'elsewhere'));
    symlinkSync(path.join(root, 'elsewhere'), path.join(place.path, '.gitignore'));
    symlinkSync(path.join(root, 'elsewhere'), path.join(place.path, '.gitattributes'));
    writeFileSync(path.join(place.path, 'new.txt'), 'work');
    expect((await workspaces.examine(place.path))?.git).toMatchObject({ untracked: 3 });
    expect(await workspaces.remove(place, visit())).toMatchObject({ outcome: 'removed', saved: [{ files: 3 }] });
  });

  it.each([
    'objects/pack/pack-0000000000000000000000000000000000000000.idx',
    'objects/info/commit-graph',
    'a loose object',
  ])(
    'among the objects of an agent (%s) blocks neither its own branch nor that of another',
    async (what) => {
      const source = scratchRepository(path.join(scratchFolder(), 'project'));
      const repo = { location: source, shown: source, isLocal: true };
      const { workspaces, root, logger } = scratchWorkspaces({ workspace: { repo, strategy: 'worktree' } });
      const bad = await workspaces.prepare(visit());
      const good = await workspaces.prepare(visit({ identifier: 'T-2' }));
      const planted = commit(bad.path, { 'a.txt': '1' });
      const work = commit(good.path, { 'b.txt': '2' });
      const file = what.startsWith('objects') ? what : `objects/${planted.slice(0, 2)}/${planted.slice(2)}`;
      execFileSync('rm', ['-f', path.join(bad.gitDir ?? '', file)]);
      pipe(path.join(bad.gitDir ?? '', file));
      if (file.endsWith('.idx')) writeFileSync(path.join(bad.gitDir ?? '', file.replace('.idx', '.pack')), 'x');
      await Promise.all([workspaces.afterRun(bad, visit()), workspaces.afterRun(good, visit({ identifier: 'T-2' }))]);
      expect(git(source, 'rev-parse', 'baton/t-2')).toBe(work);
      expect(git(source, 'branch', '--list', 'baton/t-1')).toBe('');
      const refused = logger.lines.find(({ level }) => level === 'warn');
      expect(String(refused?.fields.reason)).toContain(path.basename(file));
      const place = { path: path.join(root, 'T-1'), identifier: 'T-1' };
      expect(await workspaces.remove(place, visit())).toMatchObject({ outcome: 'kept' });
    },
    soonMs,
  );
});

describe('calls of git that wait for an agent', () => {
  it(
    'do not use up the slots of all others',
    async () => {
      const folder = scratchFolder();
      const source = scratchRepository(path.join(folder, 'source'));
      const trap = scratchRepository(path.join(folder, 'trap'));
      pipe(path.join(trap, '.gitignore'));
      const daemon = scratchGit();
      const giveUp = new AbortController();
      const waiting = Array.from({ length: 8 }, () =>
        daemon
          .run({ args: ['status'], gitDir: path.join(trap, '.git'), workTree: trap, signal: giveUp.signal })
          .catch(() => 'given up'),
      );
      const head = await daemon.run({ args: ['rev-parse', 'HEAD'], gitDir: path.join(source, '.git') });
      expect(head.trim()).toBe(git(source, 'rev-parse', 'HEAD'));
      giveUp.abort(new Error('enough'));
      expect(new Set(await Promise.all(waiting))).toEqual(new Set(['given up']));
    },
    soonMs,
  );
});

describe('git in a folder that no longer exists', () => {
  it('is reported as such, and not as a missing git', async () => {
    const folder = scratchFolder();
    const repository = scratchRepository(path.join(folder, 'r'));
    const workTree = path.join(folder, 'gone');
    const error = await rejection(
      scratchGit().run({ args: ['status'], gitDir: path.join(repository, '.git'), workTree }),
    );
    expect(error).toMatchObject({ code: 'process_spawn_failed', retryable: true, details: { folder: workTree } });
    const missing = await rejection(scratchGit({ PATH: folder }).run({ args: ['version'], gitDir: null }));
    expect(missing.code).toBe('git_missing');
  });
});
