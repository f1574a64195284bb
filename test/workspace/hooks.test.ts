import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { pidsMarked, pidsWithArgument, uniqueNap } from '../process/real-children.ts';
import { describeIsolated } from '../security/machine.ts';
import { scratchRepository } from './git/scratch-repository.ts';
import { rejection, scratchFolder } from './scratch-folder.ts';
import { scratchWorkspaces, visit } from './scratch-workspaces.ts';

describeIsolated('a hook or a setup that needs a hidden path', {}, () => {
  const script = 'cat "$HOME/letters/private"';
  const source = (): string => scratchRepository(path.join(scratchFolder(), 'source'));

  it.each([
    ['before_run', { hooks: { beforeRun: script } }],
    ['after_create', { hooks: { afterCreate: script } }],
    ['workspace.setup', { workspace: { setup: script, strategy: 'worktree' } }],
  ] as const)('fails with the path and the setting: %s', async (hook, changes) => {
    const repo = source();
    const { folder, home, workspaces } = scratchWorkspaces({
      ...changes,
      isolated: true,
      ...('workspace' in changes
        ? { workspace: { ...changes.workspace, repo: { location: repo, shown: repo, isLocal: true }, copyFrom: repo } }
        : {}),
    });
    const letter = path.join(home, 'letters/private');
    for (const each of [path.dirname(letter), path.join(folder, 'source')]) mkdirSync(each);
    writeFileSync(letter, 'canary');
    const { code, details } = await rejection(
      workspaces.prepare(visit()).then((workspace) => workspaces.beforeRun(workspace, visit())),
    );
    expect([code, details.hook]).toEqual(['workspace_hook_failed', hook]);
    const hints = String(details.output)
      .split('\n')
      .filter((line) => line.startsWith('baton: '));
    expect(hints.map((line) => [line.includes(letter), line.includes('agent.isolation_read')])).toEqual([[true, true]]);
    expect(details.output).not.toContain('canary');
  });
});

describe('the hook after_create', () => {
  // @conforms W10
  it('reports its name, exit code and output when it fails', async () => {
    const { workspaces } = scratchWorkspaces({ hooks: { afterCreate: 'echo nope && echo why >&2 && exit 17' } });
    const error = await rejection(workspaces.prepare(visit()));
    expect(error).toMatchObject({
      code: 'workspace_hook_failed',
      retryable: true,
      details: { hook: 'after_create', status: 17, output: 'nope\nwhy\n' },
    });
  });

  // @conforms W11
  it('leaves no half-made directory when it fails, so that it runs again', async () => {
    const script = 'echo try >> ../tries; echo x > partial.txt; test -e ../mended && touch READY';
    const { root, workspaces } = scratchWorkspaces({ hooks: { afterCreate: script } });
    await rejection(workspaces.prepare(visit()));
    expect(readdirSync(root)).toEqual(['tries']);
    writeFileSync(path.join(root, 'mended'), '');
    const { path: folder, created } = await workspaces.prepare(visit());
    expect(created).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['READY', 'partial.txt']);
    await workspaces.prepare(visit());
    expect(readFileSync(path.join(root, 'tries'), 'utf8')).toBe('try\ntry\n');
  });

  it('leaves neither a directory nor a process when it is cancelled', async () => {
    const nap = uniqueNap();
    const { root, workspaces } = scratchWorkspaces({ hooks: { afterCreate: `sleep ${nap}` } });
    const giveUp = new AbortController();
    const preparing = workspaces.prepare(visit({}, { signal: giveUp.signal }));
    preparing.catch(() => {});
    await expect.poll(() => pidsWithArgument(nap)).toHaveLength(1);
    giveUp.abort();
    await expect(preparing).rejects.toThrow();
    expect(pidsWithArgument(nap)).toEqual([]);
    expect(existsSync(path.join(root, 'T-1'))).toBe(false);
  });
});

describe('the hooks around a run', () => {
  it('before_run rejects with the reason, and the workspace stays', async () => {
    const { workspaces } = scratchWorkspaces({ hooks: { beforeRun: 'exit 3' } });
    const workspace = await workspaces.prepare(visit());
    const error = await rejection(workspaces.beforeRun(workspace, visit()));
    expect(error).toMatchObject({ code: 'workspace_hook_failed', details: { hook: 'before_run', status: 3 } });
    expect(existsSync(workspace.path)).toBe(true);
  });

  it('a failing after_run is only logged, with the issue and the run', async () => {
    const { workspaces, logger } = scratchWorkspaces({ hooks: { afterRun: 'exit 3' } });
    const workspace = await workspaces.prepare(visit());
    await workspaces.afterRun(workspace, visit({ id: 'id-1' }, { runId: 'run-1' }));
    expect(logger.lines).toMatchObject([
      {
        level: 'warn',
        fields: {
          issue_id: 'id-1',
          issue_identifier: 'T-1',
          run_id: 'run-1',
          error: { code: 'workspace_hook_failed' },
        },
      },
    ]);
  });

  it('reports the signal that ended a hook', async () => {
    const { workspaces } = scratchWorkspaces({ hooks: { beforeRun: 'kill -9 $$' } });
    const workspace = await workspaces.prepare(visit());
    const error = await rejection(workspaces.beforeRun(workspace, visit()));
    expect(error).toMatchObject({ code: 'workspace_hook_failed', details: { status: null } });
    expect(error.message).toContain('SIGKILL');
  });

  // @conforms X5
  it('a hook that takes too long is ended with everything it started, whatever it ignores', async () => {
    const [ignoring, away] = [uniqueNap(), uniqueNap()];
    const script = `trap '' TERM; setsid sh -c "trap '' TERM; sleep ${away}" & sleep ${ignoring}`;
    const { workspaces } = scratchWorkspaces({ hooks: { beforeRun: script, timeoutMs: 500 } });
    const workspace = await workspaces.prepare(visit());
    const runId = systemChance.id();
    const ended = rejection(workspaces.beforeRun(workspace, visit({}, { runId })));
    await expect.poll(() => [...pidsWithArgument(ignoring), ...pidsWithArgument(away)]).toHaveLength(2);
    expect(await ended).toMatchObject({ code: 'workspace_hook_timeout', details: { hook: 'before_run' } });
    expect(pidsMarked(runId)).toEqual([]);
    expect([...pidsWithArgument(ignoring), ...pidsWithArgument(away)]).toEqual([]);
  });

  it('processes that a hook leaves in the background are ended too', async () => {
    const nap = uniqueNap();
    const { workspaces } = scratchWorkspaces({ hooks: { beforeRun: `setsid sleep ${nap} > /dev/null 2>&1 & exit 0` } });
    const workspace = await workspaces.prepare(visit());
    await workspaces.beforeRun(workspace, visit());
    expect(pidsWithArgument(nap)).toEqual([]);
  });

  // @conforms W19
  it('an error contains only the first part of a long output', async () => {
    const script = 'head -c 3000 /dev/zero | tr "\\0" x; exit 17';
    const { workspaces } = scratchWorkspaces({ hooks: { beforeRun: script } });
    const workspace = await workspaces.prepare(visit());
    const { details } = await rejection(workspaces.beforeRun(workspace, visit()));
    expect(details.output).toBe(`${'x'.repeat(2_048)}... (truncated)`);
  });

  it('an error keeps the hint at the end of a long output, which names a hidden path and its setting', async () => {
    const hint = 'baton: the isolation of this program hides /home/me/x; agent.isolation_read allows it';
    const script = `head -c 3000 /dev/zero | tr "\\0" x; printf '\\n${hint}\\n'; exit 17`;
    const { workspaces } = scratchWorkspaces({ hooks: { beforeRun: script } });
    const workspace = await workspaces.prepare(visit());
    const { details } = await rejection(workspaces.beforeRun(workspace, visit()));
    expect(String(details.output).split('\n').at(-1)).toBe(hint);
  });

  it('a flood of output neither hangs nor fills the memory', async () => {
    const script = 'head -c 50000000 /dev/zero; head -c 50000000 /dev/zero >&2; exit 1';
    const { workspaces } = scratchWorkspaces({ hooks: { beforeRun: script } });
    const workspace = await workspaces.prepare(visit());
    const { details } = await rejection(workspaces.beforeRun(workspace, visit()));
    expect(String(details.output).length).toBeLessThan(3_000);
  });

  it('a script of several lines runs to its end, in the workspace', async () => {
    const { workspaces } = scratchWorkspaces({
      hooks: { beforeRun: 'set -e\npwd > where\n# comment\necho "$0" > name\n' },
    });
    const workspace = await workspaces.prepare(visit());
    await workspaces.beforeRun(workspace, visit());
    expect(readFileSync(path.join(workspace.path, 'where'), 'utf8').trim()).toBe(workspace.path);
    expect(readdirSync(workspace.path).sort()).toEqual(['name', 'where']);
  });
});

describe('the environment of a hook', () => {
  const environmentOf = async (changes: Parameters<typeof scratchWorkspaces>[0], at = visit()) => {
    const scene = scratchWorkspaces({ ...changes, hooks: { beforeRun: 'env -0 > env.txt' } });
    const workspace = await scene.workspaces.prepare(at);
    const profile = 'export TRACKER_KEY=canary-from-profile; export FROM_PROFILE=yes\n';
    for (const name of ['.profile', '.bash_profile', '.bash_login'])
      writeFileSync(path.join(scene.home, name), profile);
    await scene.workspaces.beforeRun(workspace, at);
    const entries = readFileSync(path.join(workspace.path, 'env.txt'), 'utf8').split('\0').filter(Boolean);
    const env = Object.fromEntries(
      entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    );
    return { env, workspace, ...scene };
  };

  // @conforms X11
  it('has no tracker secret, even if the profile of the user exports it again', async () => {
    const env = { TRACKER_KEY: 'canary', OTHER: 'not on the list', LC_ALL: 'C' };
    const found = await environmentOf({ env, secrets: ['TRACKER_KEY'] });
    // The profile was read, so the secret was set for a moment.
    expect(found.env).toMatchObject({ FROM_PROFILE: 'yes', LC_ALL: 'C' });
    expect(Object.keys(found.env)).not.toContain('OTHER');
    expect(JSON.stringify(found.env)).not.toContain('canary');
  });

  // @conforms X11
  it('does not contain a secret under a usual name either', async () => {
    const found = await environmentOf({ env: { LC_SECRET: 'canary' }, secrets: ['LC_SECRET'] });
    expect(JSON.stringify(found.env)).not.toContain('canary"');
  });

  it('does not put an invalid variable name of a secret into the shell text', async () => {
    const { workspace, folder } = await environmentOf({ secrets: ['A; touch pwned', '$(touch pwned)', 'TRACKER_KEY'] });
    expect(readdirSync(workspace.path)).toEqual(['env.txt']);
    expect(existsSync(path.join(folder, 'pwned'))).toBe(false);
  });

  it('contains the issue, the workspace, the attempt and the run', async () => {
    const at = visit({ id: 'id-1', title: 'A title' }, { attempt: 2 });
    const { env, workspace } = await environmentOf({}, at);
    expect(env).toMatchObject({
      BATON_ISSUE_ID: 'id-1',
      BATON_ISSUE_IDENTIFIER: 'T-1',
      BATON_ISSUE_TITLE: 'A title',
      BATON_WORKSPACE: workspace.path,
      BATON_ATTEMPT: '2',
      BATON_RUN_ID: at.runId,
    });
    expect((await environmentOf({})).env.BATON_ATTEMPT).toBe('');
  });

  it.each([
    `it's "quoted" \\ and \\" again`,
    '$(touch pwned) $HOME `touch pwned` $((1+1))',
    "'; touch pwned; '",
    '-n --help && touch pwned | touch pwned > pwned',
  ])('contains the title %j unchanged, and never runs it', async (title) => {
    const { env, workspace } = await environmentOf({}, visit({ title, identifier: `T ${title}` }));
    expect(env).toMatchObject({ BATON_ISSUE_TITLE: title, BATON_ISSUE_IDENTIFIER: `T ${title}` });
    expect(readdirSync(workspace.path)).toEqual(['env.txt']);
  });

  it('shows the control characters of a title instead of passing them on', async () => {
    const { env } = await environmentOf({}, visit({ title: '\u001b]0;owned\u0007red\nline' }));
    expect(env.BATON_ISSUE_TITLE).toBe('␛]0;owned␇red line');
  });

  it('shows those of an identifier and an id too, and bounds them', async () => {
    const { env } = await environmentOf({}, visit({ identifier: 'T-1\u001b[2J', id: `1\u202e${'x'.repeat(5_000)}` }));
    expect(env.BATON_ISSUE_IDENTIFIER).toBe('T-1␛[2J');
    expect(env.BATON_ISSUE_ID).toMatch(/^1⟦U\+202E⟧x+$/);
    expect(env.BATON_ISSUE_ID).toHaveLength(4_096);
  });

  it('lets the hook run despite a title that no variable can hold', async () => {
    expect((await environmentOf({}, visit({ title: 'a\0b' }))).env.BATON_ISSUE_TITLE).toBe('a␀b');
    const long = await environmentOf({}, visit({ title: 'x'.repeat(500_000) }));
    expect(long.env.BATON_ISSUE_TITLE).toMatch(/^x{4096}$/);
  });
});
