// @module-tag full
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../process/real-children.ts';
import { batonHere } from './baton-here.ts';
import {
  addIssue,
  answer,
  boardWorkflow,
  liveTest,
  refusal,
  soon,
  startDaemon,
  stopDaemon,
  untilDone,
  untilStatus,
} from './live-daemon.ts';
import { batonCommand, leaveNoPlaces, Place, type RunningBaton, startProgram } from './run-baton.ts';

leaveNoPlaces();

/** Finished workspaces stay for an hour. */
const keepsAnHour = boardWorkflow().replace('{root: workspaces}', '{root: workspaces, retention_ms: 3600000}');

const folderOf = (place: Place, key: string): string => path.join(place.folder, 'workspaces', key);
const isThere = (place: Place, key: string): boolean => existsSync(folderOf(place, key));

interface ListedRow {
  readonly key: string;
  readonly [name: string]: unknown;
}

async function listed(place: Place): Promise<readonly ListedRow[]> {
  return (await answer(place, 'workspace', 'list')).workspaces;
}

async function listedOne(place: Place, key: string): Promise<ListedRow | undefined> {
  return (await listed(place)).find((row) => row.key === key);
}

/** Issues whose runs have made a file and were ended because a person finished the issue. */
async function finished(place: Place, count: number): Promise<RunningBaton> {
  const script = `echo made > made.txt; head -c 200000 /dev/zero > part; mv part large; ${untilDone}`;
  for (let made = 0; made < count; made += 1) await addIssue(place, script);
  const daemon = await startDaemon(place);
  await untilStatus(place, { counts: { running: count } });
  for (let number = 1; number <= count; number += 1) {
    await until(() => existsSync(path.join(folderOf(place, `BAT-${number}`), 'large')), 'the agent has worked');
    await answer(place, 'issue', 'move', `BAT-${number}`, 'done');
  }
  await untilStatus(place, { counts: { running: 0 } });
  return daemon;
}

describe('the workspaces of finished issues next to a daemon', liveTest, () => {
  let place: Place;
  let daemon: RunningBaton;
  beforeAll(async () => {
    place = new Place();
    place.write('WORKFLOW.md', keepsAnHour);
    daemon = await finished(place, 4);
  }, liveTest.timeout);
  afterAll(async () => {
    await stopDaemon(daemon);
    place[Symbol.dispose]();
  }, liveTest.timeout);

  it('are listed with size, last run, content and the reason why they are kept', async () => {
    const outside = path.join(place.folder, 'outside');
    mkdirSync(outside, { recursive: true });
    symlinkSync(outside, folderOf(place, 'link'));
    writeFileSync(folderOf(place, 'plain'), 'x');
    mkdirSync(folderOf(place, 'nobodys'));
    const rows = await listed(place);
    expect(rows.map(({ key }) => key)).toEqual(['BAT-1', 'BAT-2', 'BAT-3', 'BAT-4', 'nobodys']);
    expect(rows[0]).toMatchObject({
      issue_identifier: 'BAT-1',
      state: 'done',
      pinned: false,
      step: 'whole',
      may_go: false,
      code: 'retention',
      reason: expect.stringMatching(/ \d{4}-\d\d-\d\d /),
      last_run: { ended_at: expect.any(String), evidence: { changed: true, git: null } },
    });
    expect(rows[0]?.bytes).toBeGreaterThan(200_000);
    expect(rows[4]).toMatchObject({ issue_id: null, state: null, code: 'issue_unknown', may_go: false });
    const { stdout, code } = await batonHere(place, 'workspace', 'list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^BAT-1 +done +2\d\d\.\d kB +\d{4}-\d\d-\d\d \d\d:\d\d +\S.* \d{4}-\d\d-\d\d \S+$/m);
    expect(stdout).toMatch(/\n5 .*, \d+\.\d (?:kB|MB)\n$/);
  });

  it('stay when a person prunes before their time, and a dry run changes nothing', async () => {
    expect(await answer(place, 'workspace', 'prune')).toEqual({ dry_run: false, removed: [], stays: [] });
    const { code, stdout } = await batonHere(place, 'workspace', 'prune', '--dry-run', '--all-finished');
    expect(code).toBe(0);
    expect(stdout).toMatch(/ {2}BAT-1 +2\d\d\.\d kB +\//);
    expect(stdout).toMatch(/\n4 .*, \d+\.\d kB\b.*\n$/);
    const plan = await answer(place, 'workspace', 'prune', '--dry-run', 'bat-2');
    expect(plan).toMatchObject({ dry_run: true, would_remove: [], stays: [{ key: 'BAT-2', code: 'retention' }] });
    for (const key of ['BAT-1', 'BAT-2', 'BAT-3', 'BAT-4', 'nobodys', 'plain']) expect(isThere(place, key)).toBe(true);
  });

  it('are refused by an unknown name, and nothing is removed', async () => {
    for (const name of ['BAT-404', '../outside', 'plain', 'link', '']) {
      const refused = await refusal(place, 'workspace', 'prune', '--all-finished', 'BAT-1', name);
      expect(refused).toMatchObject({ code: 'command_refused' });
    }
    expect(isThere(place, 'BAT-1')).toBe(true);
    expect(await refusal(place, 'workspace', 'pin', 'BAT-404')).toMatchObject({ code: 'tracker_issue_not_found' });
    expect(await refusal(place, 'workspace', 'unpin', 'BAT-1')).toMatchObject({ code: 'command_refused' });
  });

  // @conforms F081
  it('stay while they are pinned, whatever the command', async () => {
    const pinned = { issue_identifier: 'BAT-1', pinned: true };
    expect(await answer(place, 'workspace', 'pin', 'bat-1')).toMatchObject(pinned);
    expect(await answer(place, 'workspace', 'pin', 'BAT-1')).toMatchObject(pinned);
    expect(await listedOne(place, 'BAT-1')).toMatchObject({ pinned: true, code: 'pinned' });
    const { code, stdout } = await batonHere(place, 'workspace', 'prune', '--all-finished', 'BAT-1', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ removed: [], stays: [{ key: 'BAT-1', code: 'pinned' }] });
    const plain = await batonHere(place, 'workspace', 'prune', '--all-finished', 'BAT-1');
    expect(plain).toMatchObject({ code: 1, stdout: expect.stringMatching(/ BAT-1 .*: .+\n.* 0 .*\n$/) });
    expect(isThere(place, 'BAT-1')).toBe(true);
  });

  // @conforms F083
  it('are removed by the daemon where allowed, and the run shows what happened to its workspace', async () => {
    const done = await answer(place, 'workspace', 'prune', '--all-finished');
    expect(done.removed.map(({ key }: ListedRow) => key)).toEqual(['BAT-2', 'BAT-3', 'BAT-4']);
    expect(done.stays).toEqual([]);
    expect(readdirSync(path.join(place.folder, 'workspaces')).toSorted()).toEqual([
      'BAT-1',
      'link',
      'nobodys',
      'plain',
    ]);
    expect(daemon.stderr()).toContain('workspace_removed');
    const { run } = await answer(place, 'runs', 'show', 'BAT-2');
    expect(run).toMatchObject({
      workspace_evidence: { changed: true, git: null },
      workspace_removal: { kept_because: null, saved: [] },
    });
    const shown = (await batonHere(place, 'runs', 'show', 'BAT-2')).stdout;
    expect(shown).toMatch(/^changed +yes$/m);
    expect(shown).toMatch(/^removed +\d{4}-\d\d-\d\d /m);
  });

  it('are removed after they are unpinned', async () => {
    expect(await answer(place, 'workspace', 'unpin', 'BAT-1')).toMatchObject({ pinned: false });
    const { code, stdout } = await batonHere(place, 'workspace', 'prune', '--all-finished', 'BAT-1');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\S+ +BAT-1 +2\d\d\.\d kB\n.* 1 .*, 2\d\d\.\d kB\n$/);
    expect(isThere(place, 'BAT-1')).toBe(false);
  });
});

describe('work that exists nowhere else', liveTest, () => {
  it('is saved before its workspace is removed, and both the command and the run name the restore command', async () => {
    using place = new Place();
    const git = 'git init -q . && git -c user.name=T -c user.email=t@example.com commit -q --allow-empty -m first';
    place.write(
      'WORKFLOW.md',
      keepsAnHour.replace('agent: {', `hooks: {after_create: ${JSON.stringify(git)}}\nagent: {`),
    );
    const daemon = await finished(place, 1);
    const { run: before } = await answer(place, 'runs', 'show', 'BAT-1');
    const evidence = { changed: true, git: { head: expect.stringMatching(/^[0-9a-f]{40}$/), changed: 0 } };
    expect(before).toMatchObject({ workspace_evidence: evidence, workspace_removal: null });
    const head = before.workspace_evidence.git.head.slice(0, 7);
    expect((await batonHere(place, 'runs', 'show', 'BAT-1')).stdout).toMatch(new RegExp(`^work .* ${head} `, 'm'));
    const { code, stdout } = await batonHere(place, 'workspace', 'prune', '--all-finished');
    expect(code).toBe(0);
    const [restore = 'no command'] = /baton salvage restore .+$/m.exec(stdout) ?? [];
    expect(isThere(place, 'BAT-1')).toBe(false);
    expect(daemon.stderr()).toContain('"event":"workspace_removed_and_saved"');
    const { run } = await answer(place, 'runs', 'show', 'BAT-1');
    expect(run.workspace_removal).toMatchObject({ kept_because: null, saved: [{ restore }] });
    expect((await batonHere(place, 'runs', 'show', 'BAT-1')).stdout).toContain(`; ${restore}\n`);
    await stopDaemon(daemon);
    // As a person would: pasted into a shell.
    const pasted = restore.replace(/^baton/, batonCommand());
    expect(await startProgram(place, 'sh', ['-c', pasted]).ended).toMatchObject({ code: 0 });
    expect(place.read('BAT-1-salvaged/made.txt')).toBe('made\n');
    expect(statSync(path.join(place.folder, 'BAT-1-salvaged', 'large')).size).toBe(200_000);
  });
});

describe('without a daemon', liveTest, () => {
  it('the command prunes by itself, and leaves the folder to the next daemon', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', keepsAnHour);
    await stopDaemon(await finished(place, 1));
    expect(await listedOne(place, 'BAT-1')).toMatchObject({ code: 'retention' });
    const done = await answer(place, 'workspace', 'prune', '--all-finished');
    expect(done).toMatchObject({ removed: [{ key: 'BAT-1' }], stays: [] });
    expect(isThere(place, 'BAT-1')).toBe(false);
    await stopDaemon(await startDaemon(place));
  });

  // @conforms F080
  it('a workspace whose run never ended stays: its agent may be alive', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', keepsAnHour);
    await addIssue(place, untilDone);
    const daemon = await startDaemon(place);
    await untilStatus(place, { counts: { running: 1 } });
    await soon(async () =>
      expect((await answer(place, 'runs', 'show', 'BAT-1')).run.workspace_path).toBe(folderOf(place, 'BAT-1')),
    );
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    await answer(place, 'issue', 'move', 'BAT-1', 'done');
    expect(await listedOne(place, 'BAT-1')).toMatchObject({ code: 'claimed' });
    const { code } = await batonHere(place, 'workspace', 'prune', '--all-finished', 'BAT-1');
    expect(code).toBe(1);
    expect(isThere(place, 'BAT-1')).toBe(true);
  });

  it('removes nothing next to a daemon that does not answer, and says so', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', keepsAnHour);
    const daemon = await finished(place, 1);
    daemon.child.kill('SIGSTOP');
    const refused = await refusal(place, 'workspace', 'prune', '--all-finished');
    daemon.child.kill('SIGCONT');
    expect(refused).toMatchObject({ code: 'store_in_use' });
    expect(isThere(place, 'BAT-1')).toBe(true);
    await stopDaemon(daemon);
  });

  it('accepts an empty folder', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', keepsAnHour);
    expect(await answer(place, 'workspace', 'list')).toMatchObject({ workspaces: [], problem: null });
    expect((await batonHere(place, 'workspace', 'list')).stdout).toMatch(/^0 .*\n$/);
    expect((await batonHere(place, 'workspace', 'prune')).stdout).toMatch(/ 0 .*\n$/);
  });
});
