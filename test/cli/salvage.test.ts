import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { restoreCommand } from '../../src/daemon/services/salvage-report.ts';
import { stateFolder } from '../../src/daemon/state-folder.ts';
import type { Surroundings } from '../../src/daemon/surroundings.ts';
import { createGit } from '../../src/workspace/git/git.ts';
import { gitPlaces } from '../../src/workspace/git/git-places.ts';
import { createSalvage } from '../../src/workspace/salvage/create-salvage.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { contentsOf, gitIn, makeRepository, write } from '../workspace/salvage/salvage-scene.ts';
import { batonHere } from './baton-here.ts';
import { answer, boardWorkflow, liveTest, refusal } from './live-daemon.ts';
import { baton, leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

const title = 'turned \u202e around \u001b]0;owned\u0007\nsecond line';

/** No command has made it yet. */
function stateOf(place: Place): string {
  const surroundings = { env: place.env, homeDir: place.home, cwd: place.folder };
  return stateFolder(path.join(place.folder, 'WORKFLOW.md'), undefined, surroundings as Surroundings);
}

interface Given {
  readonly days?: number;
  readonly project?: string;
  /** A local repository that takes the work. */
  readonly source?: string;
  readonly archive?: boolean;
  /** Further files, in a commit and in none. */
  readonly committed?: Readonly<Record<string, string>>;
  readonly loose?: Readonly<Record<string, string>>;
  /** Whether a file was staged and then changed again. */
  readonly staged?: boolean;
  /** How long ago it was saved. */
  readonly agoMs?: number;
}

/** A place whose daemon has saved the work of BAT-1. */
async function givenSaved(given: Given = {}): Promise<{ place: Place; files: Map<string, string> }> {
  const { days = 0, project = 'live', source, archive = false, staged = false, agoMs = 0 } = given;
  const { committed = {}, loose = {} } = given;
  const place = new Place();
  const repo = source === undefined ? '' : `repo: ${source}, `;
  const workflow = boardWorkflow().replace('{name: live}', `{name: ${project}}`);
  place.write('WORKFLOW.md', workflow.replace('workspace: {', `workspace: {salvage_retention_days: ${days}, ${repo}`));
  const workspace = path.join(place.folder, 'workspaces', 'BAT-1');
  if (!archive) makeRepository(workspace);
  if (Object.keys(committed).length > 0) {
    write(workspace, committed);
    gitIn(workspace, 'add', '-A');
    gitIn(workspace, 'commit', '-qm', 'more');
  }
  write(workspace, { 'a.txt': 'two\n', ...loose, ...(archive ? {} : { 'new.txt': '\u001b[31mred\n' }) });
  if (staged) {
    gitIn(workspace, 'add', 'new.txt');
    write(workspace, { 'new.txt': 'later\n' });
  }
  const clock = { ...systemClock, now: () => systemClock.now() - agoMs };
  const deps = { clock, containment: 'group_only', daemonId: 'test', daemonEnv: place.env } as const;
  const salvage = createSalvage({
    ...deps,
    project,
    git: createGit(deps),
    places: gitPlaces(stateOf(place)),
    repo: source === undefined ? null : { location: source, shown: source, isLocal: true },
    archive,
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
  it('marks saved work that changes files that control agents or CI, in commits too', async () => {
    const committed = { '.github/workflows/ci.yml': 'on: push\n', 'src/x': '1\n' };
    const { place } = await givenSaved({ committed, loose: { 'WORKFLOW.md': 'evil' } });
    using _ = place;
    const governing = ['WORKFLOW.md', '.github/workflows/ci.yml'];
    expect((await answer(place, 'salvage', 'list')).saved).toMatchObject([{ governing }]);
    expect((await answer(place, 'salvage', 'diff', 'BAT-1')).saved).toMatchObject({ governing });
    for (const name of governing) {
      expect((await batonHere(place, 'salvage', 'list')).stdout).toContain(name);
      expect((await batonHere(place, 'salvage', 'show', 'BAT-1')).stdout).toContain(name);
      // The diff itself stays one that git can apply.
      const { stdout, stderr } = await batonHere(place, 'salvage', 'diff', 'BAT-1');
      expect([stderr.includes(name), stdout.startsWith('diff --git ')]).toEqual([true, true]);
    }
  });

  // @conforms git.25
  it('lists, shows and compares without a daemon or a store, and cannot control a terminal', async () => {
    const { place } = await givenSaved();
    using _ = place;
    const { saved } = await answer(place, 'salvage', 'list');
    expect(saved).toMatchObject([
      { name: 'BAT-1/run-1', issue_title: title, files: 2, commits: 1, kind: 'commit', governing: [] },
    ]);
    const list = await batonHere(place, 'salvage', 'list');
    expect(list.stdout).toMatch(
      /^BAT-1\/run-1 {2}.* BAT-1 {2}2 \S+, 1 \S+ {2}turned ⟦U\+202E⟧ around ␛\]0;owned␇ second line\n$/,
    );
    const show = await baton(place, 'salvage', 'show', 'bat-1');
    expect(show.stdout).toContain('baton salvage restore BAT-1/run-1 --workflow');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
    expect(show.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect((await baton(place, 'salvage', 'diff', 'BAT-1')).stdout).toMatch(/-one\n\+two\n/);
    expect((await batonHere(place, 'salvage', 'diff', 'BAT-1', '--stat')).stdout).toContain('2 files changed');
    expect(existsSync(path.join(stateOf(place), 'baton.db'))).toBe(false);
  });

  it('restores by the name of the issue, and never overwrites anything', async () => {
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
    const plain = await batonHere(place, 'salvage', 'restore', 'BAT-1/run-1', '--to', 'else where');
    const target = path.join(place.folder, 'else where');
    expect(plain).toMatchObject({ code: 0, stdout: expect.stringContaining(` ${target}`), stderr: '' });
    expect(readFileSync(path.join(place.folder, 'else where', 'a.txt'), 'utf8')).toBe('two\n');
  });

  it('shows content that was staged differently, and stages it again', async () => {
    const { place } = await givenSaved({ staged: true });
    using _ = place;
    expect((await answer(place, 'salvage', 'show', 'BAT-1')).saved).toMatchObject({
      staged_files: 1,
      staged_otherwise: 1,
    });
    const show = await batonHere(place, 'salvage', 'show', 'BAT-1');
    expect(show.stdout).toMatch(/\n\n1 file .*\n$/);
    expect(await answer(place, 'salvage', 'restore', 'BAT-1')).toMatchObject({ unstaged: null });
    const status = gitIn(path.join(place.folder, 'BAT-1-salvaged'), 'status', '--porcelain');
    expect(status.split('\n')).toContain('AM new.txt');
  });

  it('prunes only entries that are old enough, and none without an age', async () => {
    const { place } = await givenSaved();
    using _ = place;
    expect(await answer(place, 'salvage', 'prune')).toEqual({ dropped: [], dry_run: false, days: null });
    expect((await batonHere(place, 'salvage', 'prune')).stdout).toMatch(
      /workspace\.salvage_retention_days.* --older-than/,
    );
    expect(await answer(place, 'salvage', 'prune', '--older-than', '1')).toMatchObject({ dropped: [], days: 1 });
    expect((await batonHere(place, 'salvage', 'prune', '--older-than', '0')).code).toBe(2);
    expect((await answer(place, 'salvage', 'list')).saved).toHaveLength(1);
    const { place: other } = await givenSaved({ days: 30 });
    using __ = other;
    expect(await answer(other, 'salvage', 'prune', '--dry-run')).toEqual({ dropped: [], dry_run: true, days: 30 });
  });
});

it('refuses to delete saved work for an agent', async () => {
  using place = new Place({ BATON_RUN_ID: 'r1' });
  const refused = await refusal(place, 'salvage', 'prune', '--older-than', '1');
  expect(refused).toMatchObject({ code: 'command_refused', details: { code: 'not_for_agents' } });
});

const dayMs = 24 * 3_600_000;

describe.concurrent('two projects on one repository', liveTest, () => {
  it('show, restore and prune only their own entries, and say where the rest is', async () => {
    using home = new Place();
    const source = path.join(home.folder, 'source');
    makeRepository(source, { 'z.txt': 'z' });
    const old = { source, agoMs: 10 * dayMs };
    const { place: one, files } = await givenSaved({ ...old, project: 'one' });
    using _ = one;
    const { place: two } = await givenSaved({ ...old, project: 'two' });
    using __ = two;
    expect((await answer(one, 'salvage', 'list')).saved).toMatchObject([{ name: 'BAT-1/run-1', project: 'one' }]);
    expect((await answer(two, 'salvage', 'list')).saved).toMatchObject([{ name: 'BAT-1/run-1-2', project: 'two' }]);
    expect((await batonHere(two, 'salvage', 'list', '--all-projects')).stdout).toMatch(/^one {2}BAT-1\/run-1 {2}/m);
    expect((await answer(two, 'salvage', 'show', 'BAT-1')).saved).toMatchObject({ project: 'two' });
    expect(await refusal(two, 'salvage', 'show', 'BAT-1/run-1')).toMatchObject({
      code: 'salvage_not_found',
      details: { project: 'one' },
      next_step: expect.stringContaining('--all-projects'),
    });
    const shown = await batonHere(two, 'salvage', 'show', 'BAT-1/run-1', '--all-projects');
    expect(shown.stdout).toMatch(/^restore +baton salvage restore BAT-1\/run-1 .*--all-projects$/m);
    await answer(two, 'salvage', 'restore', 'BAT-1/run-1', '--all-projects');
    expect(contentsOf(path.join(two.folder, 'BAT-1-salvaged'))).toEqual(files);

    const pruned = await batonHere(two, 'salvage', 'prune', '--older-than', '1');
    expect(pruned.stdout).toMatch(/^BAT-1\/run-1-2 .*\n1 [^\d\n]+ 1 .*\n$/);
    expect((await answer(two, 'salvage', 'list')).saved).toEqual([]);
    expect((await answer(one, 'salvage', 'list')).saved).toHaveLength(1);
  });
});

describe.concurrent('an archive', liveTest, () => {
  it('is counted, and its difference is a listing', async () => {
    const { place } = await givenSaved({ archive: true });
    using _ = place;
    expect((await answer(place, 'salvage', 'list')).saved).toMatchObject([{ kind: 'archive', files: 1 }]);
    expect((await batonHere(place, 'salvage', 'list')).stdout).toMatch(/ BAT-1 {2}archive .*1 /);
    expect((await batonHere(place, 'salvage', 'diff', 'BAT-1')).stdout).toMatch(/^-rw.* \.\/a\.txt$/m);
  });
});

describe('the restore command in the log', () => {
  it('works in any shell, whatever the names contain', () => {
    const place = { workflowPath: "/a b/it's $(touch x)/WORKFLOW.md", stateDir: '-state `id`\n' };
    const printed = execFileSync('sh', ['-c', `baton() { printf '%s\\0' "$@"; }; ${restoreCommand('K;x/run', place)}`]);
    expect(printed.toString().split('\0')).toEqual([
      ...['salvage', 'restore', 'K;x/run', '--workflow', place.workflowPath, '--state-dir', place.stateDir, ''],
    ]);
  });
});
