import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { WorkspaceSettings } from '../../src/core/settings.ts';
import { issue } from '../fake/issues.ts';
import { stageRun } from './stage-run.ts';

/** A repository of a person, with one commit. */
function repository(branch?: string): Partial<WorkspaceSettings> {
  const location = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-repo-')));
  onTestFinished(() => rmSync(location, { recursive: true, force: true }));
  const git = (...args: string[]) => execFileSync('git', ['-C', location, ...args]);
  git('init', '-q', '-b', 'main');
  git('-c', 'user.name=p', '-c', 'user.email=p@example.org', 'commit', '-q', '--allow-empty', '-m', 'start');
  if (branch !== undefined) {
    git('checkout', '-q', '-b', branch);
    git('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-q', '--allow-empty', '-m', 'work');
    git('checkout', '-q', 'main');
  }
  return { repo: { location, shown: location, isLocal: true }, strategy: 'worktree', copyFrom: location };
}

const commits = 'git -c user.name=a -c user.email=a@example.org commit -q -m work';
const commitAll = `git add -A; ${commits}`;

/** An agent without memory of turns. `turns` is a line of shell for each turn, the last one for all further ones. */
function run(turns: readonly string[], more: Parameters<typeof stageRun>[1] = {}) {
  const cases = turns.map((act, at) => `${at === turns.length - 1 ? '*' : at + 1}) ${act};;`);
  const command = `cat >> ../prompts; echo x >> ../count; case $(wc -l < ../count | tr -d ' ') in ${cases.join(' ')} esac`;
  return stageRun('The whole prompt.', {
    workspace: repository(),
    ...more,
    agent: { backend: 'command', command, maxTurns: 5, afterSuccess: 'review', ...more.agent },
  });
}

describe('a run that leads to review', () => {
  it('ends after the turn in which everything is committed', async () => {
    const staged = run([`echo hi > a.txt; ${commitAll}`]);
    expect(await staged.end()).toMatchObject({ end: 'succeeded', turns: 1 });
    expect(staged.deliveries).toMatchObject([{ outcome: 'published', base: 'main' }]);
  });

  it('gives an agent without memory one more turn for uncommitted work, with the whole prompt', async () => {
    const staged = run(['echo hi > a.txt', commitAll]);
    expect(await staged.end()).toMatchObject({ end: 'succeeded', turns: 2 });
    expect(staged.prompts[1]?.startsWith('The whole prompt.\n\n')).toBe(true);
    expect(staged.deliveries).toMatchObject([{ outcome: 'published' }]);
  });

  it('reminds only once', async () => {
    const staged = run(['echo hi >> a.txt']);
    expect(await staged.end()).toMatchObject({ end: 'succeeded', turns: 2 });
    expect(staged.deliveries).toMatchObject([{ outcome: 'nothing' }]);
  });

  it('does not remind when the agent has moved its issue', async () => {
    const staged = run(['echo hi > a.txt'], { readIssue: async () => issue({ state: 'Done' }) });
    expect(await staged.end()).toMatchObject({ end: 'succeeded', turns: 1 });
  });

  it.each([
    ['goes on after a turn without a new commit when its commit was in review', true, 2, 'published'],
    ['ends at once with a commit that no one has seen', false, 1, 'nothing'],
  ])('%s', async (_, isReviewed, turns, outcome) => {
    const workspace = repository('baton/T-1');
    const commit = execFileSync('git', ['-C', workspace.copyFrom ?? '', 'rev-parse', 'baton/T-1'], {
      encoding: 'utf8',
    });
    const script = ['say Reading', 'next turn', 'write a.txt', '| hi', 'run git add -A', `run ${commits}`];
    const staged = stageRun(['```rehearsal', ...script, '```'].join('\n'), {
      workspace,
      agent: { maxTurns: 5, afterSuccess: 'review' },
      request: { retryKind: 'revision', reviewed: isReviewed ? [commit.trim()] : [] },
    });
    expect(await staged.end()).toMatchObject({ end: 'succeeded', turns });
    expect(staged.deliveries).toMatchObject([{ outcome }]);
  });

  it('has no further turn without changes for an agent without memory, and none at all without review', async () => {
    expect(await run(['true']).end()).toMatchObject({ end: 'succeeded', turns: 1 });
    const staged = run(['echo hi > a.txt'], { agent: { afterSuccess: 'continue' } });
    expect(await staged.end()).toMatchObject({ end: 'succeeded', turns: 1 });
  });
});
