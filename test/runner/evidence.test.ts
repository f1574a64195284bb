import { describe, expect, it } from 'vitest';
import { script, stageRun, tracedHooks } from './stage-run.ts';

const asShell = { backend: 'command', command: 'exec sh' } as const;

describe('a run tells, before its outcome, whether the workspace changed', () => {
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
    expect(staged.told).toEqual(['process', 'process ended', `changed: ${changed}`]);
  });

  it('with what is in it then: commits, changed and new files, and a digest of all', async () => {
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

  it('null when the workspace cannot be seen any more', async () => {
    const staged = stageRun('rm -rf "$BATON_WORKSPACE"', { agent: asShell });
    await staged.end();
    expect(staged.told.at(-1)).toBe('changed: null');
    expect(staged.facts).toEqual([null]);
  });

  it('also when it was stopped in the middle of a turn', async () => {
    const staged = stageRun(script('write made.txt', '| made', 'say here', 'wait 600000'), { hooks: tracedHooks });
    await expect.poll(() => staged.events.at(-1)?.summary, { timeout: 20_000 }).toBe('here');
    staged.run.stop('terminal_state');
    await staged.end();
    expect(staged.told).toEqual(['process', 'process ended', 'changed: true']);
  });

  it('but not when there was no session', async () => {
    const staged = stageRun(script('say hi'), { hooks: { beforeRun: 'exit 5' } });
    await staged.end();
    expect(staged.told).toEqual([]);
  });
});

it('a run hands the name of an earlier conversation to the agent', async () => {
  const asked: (string | null)[] = [];
  const staged = stageRun(script('say hi'), {
    threadId: 'thread-7',
    onSessionRequest: (request) => void asked.push(request.threadId),
  });
  await staged.end();
  expect(asked).toEqual(['thread-7']);
});
