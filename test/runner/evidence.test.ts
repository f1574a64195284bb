import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HookSettings } from '../../src/core/settings.ts';
import { telling } from '../telling.ts';
import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';
import { script, stageRun, tracedHooks } from './stage-run.ts';

const asShell = { backend: 'command', command: 'exec sh' } as const;

// @conforms limits.25
describe('a run reports, before its outcome, whether the workspace changed', () => {
  it.each([
    ['true when the agent made a file', 'echo made > made.txt', true],
    ['true when the agent failed after it made a file', 'echo made > made.txt; exit 9', true],
    ['true when the agent removed what was there', 'rm before.txt', true],
    ['true when the agent committed and left the files as they are', 'git commit -q --allow-empty -m more', true],
    ['false when the agent only looked', 'cat before.txt; git status; git log; git diff', false],
    ['false when the agent cleaned up after itself', 'mkdir -p a/b; echo x > a/b/c; rm -r a', false],
  ] as const)('%s', async (_what, prompt, changed) => {
    const git =
      'git -c init.defaultBranch=main init -q && git config user.name T && git config user.email t@example.com';
    const staged = stageRun(prompt, {
      agent: asShell,
      hooks: {
        afterCreate: `${git} && echo x > before.txt && git add . && git commit -q -m first`,
        // Neither what happens before the session nor what happens after it is the agent's.
        beforeRun: 'echo again >> hooked.txt',
        afterRun: 'echo after >> hooked.txt',
      },
    });
    await staged.end();
    expect(staged.told).toEqual(['process', 'prompt delivered', 'process ended', `changed: ${changed}`]);
  });

  it('with its content: commits, changed and new files, and a digest of all', async () => {
    const git =
      'git -c init.defaultBranch=main init -q && git config user.name T && git config user.email t@example.com';
    const staged = stageRun('echo y >> before.txt; echo new > new.txt; git log --format=%H > ignored.log', {
      agent: asShell,
      hooks: {
        afterCreate: `${git} && echo x > before.txt && echo ignored.log > .gitignore && git add . && git commit -q -m first`,
      },
    });
    await staged.end();
    const head = staged.file('ignored.log')?.trim() ?? '';
    expect(head).toMatch(/^[0-9a-f]{40}$/);
    expect(staged.facts).toMatchObject([
      {
        fingerprint: expect.stringMatching(/^\S+$/),
        git: { head, branch: 'main', changed: 1, untracked: 1, conflicts: 0 },
      },
    ]);
  });

  it('null when the workspace cannot be read any more', async () => {
    const staged = stageRun('rm -rf "$BATON_WORKSPACE"', { agent: asShell });
    await staged.end();
    expect(staged.told.at(-1)).toBe('changed: null');
    expect(staged.facts).toEqual([null]);
  });

  it('also when it was stopped during a turn', async () => {
    const staged = stageRun(script('write made.txt', '| made', 'say here', 'wait 600000'), { hooks: tracedHooks });
    await expect.poll(() => staged.events.at(-1)?.summary).toBe('here');
    staged.run.stop('terminal_state');
    await staged.end();
    expect(staged.told).toEqual(['process', 'prompt delivered', 'process ended', 'changed: true']);
  });

  it('but not when there was no session', async () => {
    const staged = stageRun(script('say hi'), { hooks: { beforeRun: 'exit 5' } });
    await staged.end();
    expect(staged.told).toEqual([]);
  });
});

describe('a run reports, after its hook and before its outcome, the publication of its branch', () => {
  /** A run in a workspace from a repository; the branch of the issue is `baton/T-1`. */
  function staged(prompt: string, hooks: Partial<HookSettings> = {}) {
    const source = scratchRepository(path.join(scratchFolder(), 'source'));
    const repo = { location: source, shown: source, isLocal: true };
    const person = 'git config user.name T && git config user.email t@example.com';
    const workspace = { repo, strategy: 'worktree', setup: person } as const;
    return { source, ...stageRun(prompt, { agent: asShell, workspace, hooks }) };
  }

  it('that the branch is in the repository', async () => {
    const { source, ...run } = staged('git commit -q --allow-empty -m work', { afterRun: 'touch hooked' });
    await run.end();
    expect(run.told).toEqual([
      'process',
      'prompt delivered',
      'process ended',
      'changed: true',
      'publication: published',
    ]);
    const commit = git(source, 'rev-parse', 'baton/T-1');
    expect(run.deliveries).toMatchObject([{ branch: 'baton/T-1', commit, reason: null, elsewhere: null }]);
    const [told, ...more] = run.logger.lines.filter(({ fields }) => 'branch' in fields);
    expect(told).toMatchObject({ level: 'info', fields: { run_id: run.runId, commit, before: null } });
    expect(more).toEqual([]);
  });

  it('why it was refused, when the branch is checked out elsewhere', async () => {
    const { source, ...run } = staged('git commit -q --allow-empty -m work');
    const folder = `${source}-of-a-person`;
    git(source, 'worktree', 'add', '-q', '-b', 'baton/T-1', folder);
    const before = git(source, 'rev-parse', 'baton/T-1');
    await run.end();
    const reason = telling('baton/T-1', folder);
    expect(run.deliveries).toMatchObject([{ outcome: 'refused', branch: 'baton/T-1', reason, elsewhere: null }]);
    expect(git(source, 'rev-parse', 'baton/T-1')).toBe(before);
    expect(run.deliveries[0]?.commit).toBe(run.facts[0]?.git?.head);
  });

  it('where the work is, when the agent switched branches', async () => {
    const { source, ...run } = staged('git checkout -q -b my/other; git commit -q --allow-empty -m work');
    await run.end();
    const elsewhere = { branch: 'my/other', commit: run.facts[0]?.git?.head };
    expect(run.deliveries).toMatchObject([{ outcome: 'nothing', branch: 'baton/T-1', elsewhere }]);
    expect(git(source, 'branch', '--list')).toBe('* main');
    expect(run.logger.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { fields: { run_id: run.runId, branch: 'baton/T-1', head: elsewhere.commit, head_branch: 'my/other' } },
    ]);
  });

  it('also when there was no session', async () => {
    const run = staged('', { beforeRun: 'exit 5' });
    await run.end();
    expect(run.told).toEqual(['publication: nothing']);
  });

  it('but nothing for a workspace without a repository', async () => {
    const run = stageRun('git init -q', { agent: asShell });
    await run.end();
    expect(run.deliveries).toEqual([]);
  });
});

it('a run passes the id of an earlier conversation to the agent', async () => {
  const asked: (string | null)[] = [];
  const staged = stageRun(script('say hi'), {
    request: { threadId: 'thread-7' },
    onSessionRequest: (request) => void asked.push(request.threadId),
  });
  await staged.end();
  expect(asked).toEqual(['thread-7']);
});
