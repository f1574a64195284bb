// @module-tag full
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { WorktreeScene } from '../fault/worktree-scene.ts';
import { git } from '../workspace/git/scratch-repository.ts';
import { batonHere, daemonHere } from './baton-here.ts';
import { answer, stateFolderOf } from './live-daemon.ts';
import { leaveNoPlaces } from './run-baton.ts';

leaveNoPlaces();

const dayMs = 86_400_000;
const work = (text: string): string => `echo ${text} > work.txt; git add -A; git commit --quiet --message Work`;

interface Row {
  readonly kind: string;
  readonly count: number;
  readonly bytes: number | null;
}

/** Three issues whose agents committed 40 days ago: one was merged, one was cancelled, one is in review. */
async function scene(): Promise<WorktreeScene> {
  const scene = new WorktreeScene({
    workspace: ['repo: project', 'branch_retention_days: 30', 'retention_ms: 3600000'],
    more: ['store: {retention_days: 60}'],
  });
  await scene.file(work('one'), work('two'), work('three'));
  const daemon = await daemonHere(scene.place);
  await scene.untilAll('review', daemon);
  await daemon.stop();
  git(scene.source, 'merge', '--quiet', '--ff-only', 'baton/bat-1');
  await answer(scene.place, 'issue', 'move', 'BAT-1', 'done');
  await answer(scene.place, 'issue', 'move', 'BAT-2', 'cancelled');
  age(scene, 40);
  return scene;
}

function age(scene: WorktreeScene, days: number): void {
  const store = new DatabaseSync(path.join(stateFolderOf(scene.place), 'baton.db'));
  store.exec(`update runs set started_at = started_at - ${days * dayMs}, ended_at = ended_at - ${days * dayMs}`);
  store.close();
}

function amounts(rows: readonly Row[]): Record<string, number> {
  return Object.fromEntries(rows.filter(({ count }) => count > 0).map(({ kind, count }) => [kind, count]));
}

const branches = ({ source }: WorktreeScene): string[] =>
  git(source, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n');

describe.concurrent('baton prune', { timeout: 180_000 }, () => {
  // @conforms 4.130
  it('tells what and how much, removes it without a daemon, and finds nothing the second time', async () => {
    using stage = await scene();
    const { place } = stage;
    const plan = await answer(place, 'prune', '--dry-run');
    expect(plan.dry_run).toBe(true);
    expect(amounts(plan.rows)).toEqual({ workspaces: 2, branches: 2 });
    expect(plan.rows.find(({ kind }: Row) => kind === 'workspaces').bytes).toBeGreaterThan(1_000);
    expect(stage.names()).toEqual(['BAT-1', 'BAT-2', 'BAT-3']);
    expect(branches(stage)).toHaveLength(4);
    const { stdout } = await batonHere(place, 'prune', '--dry-run');
    expect(stdout).toMatch(/^branches +2 +- +workspace\.branch_retention_days: 30$/m);

    const { rows } = await answer(place, 'prune');
    expect(rows).toEqual(plan.rows);
    expect(stage.names()).toEqual(['BAT-3']);
    expect(branches(stage)).toEqual(['baton/bat-3', 'main']);
    // The base has the work of the first; the work of the second is saved.
    const saved = (await answer(place, 'salvage', 'list')).saved;
    expect(saved).toMatchObject([{ issue_identifier: 'BAT-2', branch: 'baton/bat-2', commits: 1 }]);
    await answer(place, 'salvage', 'restore', 'BAT-2', '--to', 'restored');
    expect(git(path.join(place.folder, 'restored'), 'show', 'baton/bat-2:work.txt')).toBe('two');
    expect(amounts((await answer(place, 'prune')).rows)).toEqual({});
  });

  it('prunes through a daemon that runs, and leaves alone what is in use', async () => {
    using stage = await scene();
    const { place } = stage;
    age(stage, 25);
    const transcripts = path.join(stateFolderOf(place), 'transcripts');
    const leave = (name: string, days: number): void => {
      const file = path.join(transcripts, `${name}.jsonl`);
      writeFileSync(file, 'x'.repeat(500));
      utimesSync(file, new Date(Date.now() - days * dayMs), new Date(Date.now() - days * dayMs));
    };
    const before = readdirSync(transcripts).length;
    // Of runs that the store does not know: another daemon pruned one long ago, a restored backup lacks the other.
    leave('left-behind', 61);
    leave('after-the-backup', 1);
    await stage.fileForEver('sleep 600');
    const daemon = await daemonHere(place);
    await expect.poll(() => existsSync(stage.workspace('BAT-4')), { timeout: 60_000 }).toBe(true);
    const { rows } = await answer(place, 'prune');
    expect(amounts(rows)).toMatchObject({ runs: 3, transcripts: 4 });
    expect(readdirSync(transcripts)).toContain('after-the-backup.jsonl');
    expect(readdirSync(transcripts)).not.toContain('left-behind.jsonl');
    expect(before).toBeGreaterThanOrEqual(3);
    expect(stage.names()).toContain('BAT-4');
    expect(stage.names()).toContain('BAT-3');
    expect(amounts((await answer(place, 'prune')).rows)).toEqual({});
    await daemon.stop();
  });

  it('removes a copy of a repository that no setting names any more', async () => {
    using stage = await scene();
    const { place } = stage;
    const caches = path.join(stateFolderOf(place), 'git/caches');
    const old = path.join(caches, 'earlier-0123456789abcdef.git');
    mkdirSync(path.join(old, 'objects/pack'), { recursive: true });
    writeFileSync(path.join(old, 'HEAD'), 'ref: refs/heads/unborn\n');
    for (const part of ['objects/pack', 'objects', '']) {
      const at = new Date(Date.now() - 31 * dayMs);
      utimesSync(path.join(old, part), at, at);
    }
    expect(amounts((await answer(place, 'prune', '--dry-run')).rows)).toMatchObject({ caches: 1 });
    expect(amounts((await answer(place, 'prune')).rows)).toMatchObject({ caches: 1 });
    expect(readdirSync(caches)).toHaveLength(1);
  });
});
