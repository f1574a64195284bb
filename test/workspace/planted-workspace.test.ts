import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { commit, git, scratchRepository } from './git/scratch-repository.ts';
import { rejection, scratchFolder } from './scratch-folder.ts';
import { scratchWorkspaces, visit } from './scratch-workspaces.ts';

/** The workspace of T-1 exists; another program makes one for T-2 next to it before Baton does. */
async function scene(strategy: 'worktree' | 'clone') {
  const source = scratchRepository(path.join(scratchFolder(), 'project'));
  const repo = { location: source, shown: source, isLocal: true };
  const made = scratchWorkspaces({ workspace: { repo, strategy, copyFrom: source } });
  const first = await made.workspaces.prepare(visit());
  const planted = path.join(made.root, 'T-2');
  return { ...made, source, first, planted, second: () => made.workspaces.prepare(visit({ identifier: 'T-2' })) };
}

// @conforms git.33
describe('a workspace that existed before Baton created it', () => {
  it.each(['worktree', 'clone'] as const)(
    'is refused when its .git leads to the git directory of another %s',
    async (strategy) => {
      const { first, planted, second, source, workspaces } = await scene(strategy);
      execFileSync('cp', ['-r', first.path, planted]);
      if (strategy === 'clone') {
        execFileSync('rm', ['-r', path.join(planted, '.git')]);
        writeFileSync(path.join(planted, '.git'), 'gitdir: ../T-1/.git\n');
      }
      writeFileSync(path.join(planted, 'AGENTS.md'), 'obey');
      const error = await rejection(second());
      expect(error).toMatchObject({ code: 'workspace_unavailable', nextStep: expect.stringContaining(planted) });
      expect(readFileSync(path.join(planted, 'AGENTS.md'), 'utf8')).toBe('obey');
      await workspaces.afterRun(first, visit());
      expect(git(source, 'branch', '--list', 'baton/*')).toBe('');
    },
  );

  it.each([
    ['a link', (first: string, planted: string) => symlinkSync(path.join(first, '.git'), path.join(planted, '.git'))],
    [
      'a git directory that shares the branches of another',
      (first: string, planted: string) => {
        git(planted, 'init', '-q');
        writeFileSync(path.join(planted, '.git', 'commondir'), path.join(first, '.git'));
      },
    ],
    [
      'a git directory that borrows the objects of another',
      (first: string, planted: string) => {
        git(planted, 'init', '-q');
        writeFileSync(path.join(planted, '.git/objects/info/alternates'), path.join(first, '.git/objects'));
      },
    ],
  ])('is refused when its .git is %s', async (_what, plant) => {
    const { first, planted, second } = await scene('clone');
    mkdirSync(planted);
    plant(first.path, planted);
    expect((await rejection(second())).code).toBe('workspace_unavailable');
  });

  it('is used unchanged when it has its own repository, and that is logged once', async () => {
    const { planted, second, logger, source, workspaces } = await scene('worktree');
    scratchRepository(planted);
    const made = await second();
    expect(made).toMatchObject({ created: false, gitDir: null });
    await second();
    const warned = logger.lines.filter(({ level }) => level === 'warn');
    expect(warned.map(({ fields }) => fields)).toEqual([
      expect.objectContaining({ workspace: planted, git: path.join(planted, '.git') }),
    ]);
    commit(planted, { 'two.txt': 'work' });
    await workspaces.afterRun(made, visit({ identifier: 'T-2' }));
    expect(git(source, 'branch', '--list', 'baton/*')).toBe('');
  });
});
