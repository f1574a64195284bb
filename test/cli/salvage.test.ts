import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { restoreCommand } from '../../src/cli/salvage/restore-command.ts';
import { stateFolder } from '../../src/cli/state-folder.ts';
import type { Surroundings } from '../../src/cli/surroundings.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { createGit } from '../../src/workspace/git/git.ts';
import { gitPlaces } from '../../src/workspace/git/git-places.ts';
import { createSalvage } from '../../src/workspace/salvage/create-salvage.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { contentsOf, makeRepository, write } from '../workspace/salvage/salvage-scene.ts';
import { answer, boardWorkflow, liveTest, refusal } from './live-daemon.ts';
import { baton, leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

const title = 'turned \u202e around \u001b]0;owned\u0007\nsecond line';

/** No command has made it yet. */
function stateOf(place: Place): string {
  const surroundings = { env: place.env, homeDir: place.home, cwd: place.folder };
  return stateFolder(path.join(place.folder, 'WORKFLOW.md'), undefined, surroundings as Surroundings);
}

/** A place whose daemon has saved the work of BAT-1. */
async function givenSaved(days = 0): Promise<{ place: Place; files: Map<string, string> }> {
  const place = new Place();
  place.write('WORKFLOW.md', boardWorkflow().replace('workspace: {', `workspace: {salvage_retention_days: ${days}, `));
  const workspace = path.join(place.folder, 'workspaces', 'BAT-1');
  makeRepository(workspace);
  write(workspace, { 'a.txt': 'two\n', 'new.txt': '\u001b[31mred\n' });
  const deps = { clock: systemClock, custody: 'group_only', daemonId: 'test', daemonEnv: place.env } as const;
  const salvage = createSalvage({
    ...deps,
    git: createGit(deps),
    places: gitPlaces(stateOf(place)),
    repo: null,
    archive: false,
    findCheckout: async () => null,
    logger: memoryLogger(),
  });
  const issue = { id: 'i-1', identifier: 'BAT-1', title };
  await salvage.save({ folder: workspace, workspace, issue, runId: 'run-1' });
  const files = contentsOf(workspace);
  rmSync(workspace, { recursive: true });
  return { place, files };
}

describe.concurrent('baton salvage', liveTest, () => {
  it('lists, shows and compares without a daemon and without a store, and nothing in it steers a terminal', async () => {
    const { place } = await givenSaved();
    using _ = place;
    const { saved } = await answer(place, 'salvage', 'list');
    expect(saved).toMatchObject([{ name: 'BAT-1/run-1', issue_title: title, files: 2, commits: 1, kind: 'commit' }]);
    const list = await baton(place, 'salvage', 'list');
    expect(list.stdout).toMatch(/^BAT-1\/run-1 {2}.* BAT-1 {2}2 files, 1 commits {2}turned around second line\n$/);
    const show = await baton(place, 'salvage', 'show', 'bat-1');
    expect(show.stdout).toContain('baton salvage restore BAT-1/run-1 --workflow');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
    expect(show.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect((await baton(place, 'salvage', 'diff', 'BAT-1')).stdout).toMatch(/-one\n\+two\n/);
    expect((await baton(place, 'salvage', 'diff', 'BAT-1', '--stat')).stdout).toContain('2 files changed');
    expect(existsSync(path.join(stateOf(place), 'baton.db'))).toBe(false);
  });

  it('restores by the name of the issue, never over anything', async () => {
    const { place, files } = await givenSaved();
    using _ = place;
    const folder = path.join(place.folder, 'BAT-1-salvaged');
    expect(await answer(place, 'salvage', 'restore', 'BAT-1')).toMatchObject({
      restored: 'BAT-1/run-1',
      folder,
      branch: 'main',
    });
    expect(contentsOf(folder)).toEqual(files);
    expect(await refusal(place, 'salvage', 'restore', 'BAT-1')).toMatchObject({ code: 'restore_refused' });
    expect(await refusal(place, 'salvage', 'restore', 'BAT-2')).toMatchObject({ code: 'salvage_not_found' });
    const plain = await baton(place, 'salvage', 'restore', 'BAT-1/run-1', '--to', 'else where');
    expect(plain).toMatchObject({ code: 0, stdout: expect.stringContaining('is restored in'), stderr: '' });
    expect(readFileSync(path.join(place.folder, 'else where', 'a.txt'), 'utf8')).toBe('two\n');
  });

  it('prunes only what is old enough, and nothing when nothing says how old', async () => {
    const { place } = await givenSaved();
    using _ = place;
    expect((await baton(place, 'salvage', 'prune')).stdout).toContain('kept for ever');
    expect(await answer(place, 'salvage', 'prune', '--older-than', '1')).toMatchObject({ dropped: [], days: 1 });
    expect((await baton(place, 'salvage', 'prune', '--older-than', '0')).code).toBe(2);
    expect((await answer(place, 'salvage', 'list')).saved).toHaveLength(1);
    const { place: other } = await givenSaved(30);
    using __ = other;
    expect(await answer(other, 'salvage', 'prune', '--dry-run')).toEqual({ dropped: [], dry_run: true, days: 30 });
  });
});

describe('the command that a log names', () => {
  it('is one that any shell takes, whatever is in the names', () => {
    const place = { workflowPath: "/a b/it's $(touch x)/WORKFLOW.md", stateDir: '-state `id`\n' };
    const printed = execFileSync('sh', ['-c', `baton() { printf '%s\\0' "$@"; }; ${restoreCommand('K;x/run', place)}`]);
    expect(printed.toString().split('\0')).toEqual([
      ...['salvage', 'restore', 'K;x/run', '--workflow', place.workflowPath, '--state-dir', place.stateDir, ''],
    ]);
  });
});
