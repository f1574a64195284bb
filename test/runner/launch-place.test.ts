import { existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { stageRun } from './stage-run.ts';

const asShell = { backend: 'command', command: 'exec sh' } as const;
const writes = 'pwd -P > where.txt';

/** A hook that puts something else in the place of the workspace. */
const instead = (what: string): string => `cd .. && rm -rf "$BATON_WORKSPACE" && ${what}`;

describe('right before the launch', () => {
  // @conforms T10
  it('the agent starts in its workspace', async () => {
    const staged = stageRun(writes, { agent: asShell });
    expect(await staged.end()).toMatchObject({ end: 'succeeded' });
    expect(staged.file('where.txt')).toBe(`${staged.workspace}\n`);
  });

  it.each([
    // @conforms A1
    ['a link to the root', 'ln -s . "$BATON_WORKSPACE"', 'workspace_symlink_escape'],
    // @conforms A2
    ['a link to a folder outside of the root', 'ln -s ../outside "$BATON_WORKSPACE"', 'workspace_symlink_escape'],
    // @conforms A2
    ['a link to the workspace of another', 'mkdir T-2 && ln -s T-2 "$BATON_WORKSPACE"', 'workspace_symlink_escape'],
    ['a link that leads nowhere', 'ln -s nowhere "$BATON_WORKSPACE"', 'workspace_symlink_escape'],
    ['nothing', 'true', 'workspace_unavailable'],
  ])('%s in the place of the workspace is refused, and no agent starts', async (_what, hook, code) => {
    const staged = stageRun(writes, { agent: asShell, hooks: { beforeRun: instead(hook) } });
    const outside = path.join(path.dirname(staged.workspace), '..', 'outside');
    mkdirSync(outside);
    expect(await staged.end()).toMatchObject({ end: 'failed', turns: 0, left: 0, error: { code } });
    expect(staged.processes).toEqual([]);
    expect(readdirSync(outside)).toEqual([]);
    expect(existsSync(path.join(path.dirname(staged.workspace), 'where.txt'))).toBe(false);
  });

  it('a file in the place of the workspace starts no agent', async () => {
    const staged = stageRun(writes, { agent: asShell, hooks: { beforeRun: instead('echo x > "$BATON_WORKSPACE"') } });
    expect(await staged.end()).toMatchObject({ end: 'failed', left: 0 });
    expect(staged.processes).toEqual([]);
    expect(lstatSync(staged.workspace).isFile()).toBe(true);
  });

  it('a hook may make the directory again', async () => {
    const staged = stageRun(writes, { agent: asShell, hooks: { beforeRun: instead('mkdir "$BATON_WORKSPACE"') } });
    expect(await staged.end()).toMatchObject({ end: 'succeeded' });
    expect(staged.file('where.txt')).toBe(`${staged.workspace}\n`);
  });
});

describe('the branch of an issue', () => {
  it('is rendered first, and a template that fails needs neither a workspace nor an agent', async () => {
    const staged = stageRun(writes, {
      agent: asShell,
      renderBranch: () => {
        throw new Error('no such variable');
      },
    });
    expect(await staged.end()).toMatchObject({ end: 'failed', turns: 0, left: 0 });
    expect(existsSync(staged.workspace)).toBe(false);
    expect(staged.stages).toEqual(['preparing_workspace', 'failed']);
  });
});
