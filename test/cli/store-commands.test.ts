// @module-tag full
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { batonHere, daemonHere } from './baton-here.ts';
import {
  addIssue,
  answer,
  boardWorkflow,
  liveTest,
  refusal,
  runsOf,
  startDaemon,
  stateFolderOf,
  stopDaemon,
  untilDone,
  untilStatus,
} from './live-daemon.ts';
import { baton, leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

function givenPlace(): Place {
  const place = new Place();
  place.write('WORKFLOW.md', boardWorkflow());
  return place;
}

async function identifiersIn(place: Place, ...args: string[]): Promise<string[]> {
  const { issues } = await answer(place, 'issue', 'list', ...args);
  return issues.map(({ identifier }: { identifier: string }) => identifier).sort();
}

const kept = (place: Place): string[] =>
  readdirSync(stateFolderOf(place)).filter((name) => /before-restore-\d+T\d+Z$/.test(name));

describe.concurrent('baton backup and restore', liveTest, () => {
  it('back up the store of a running daemon, and restore it into an empty state', async () => {
    using place = givenPlace();
    await addIssue(place, 'while :; do echo word; done');
    await addIssue(place, untilDone);
    const daemon = await daemonHere(place);
    await untilStatus(place, { counts: { running: 2 }, running: [{ last_message: 'word' }, {}] });
    const file = path.join(place.folder, 'one.backup');
    expect(await answer(place, 'backup', 'one.backup')).toEqual({ backup: file });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const plain = await batonHere(place, 'backup', 'two.backup');
    expect(plain).toMatchObject({ code: 0, stdout: expect.stringContaining(`${place.folder}/two.backup`), stderr: '' });
    const bytes = statSync(file).size;
    for (const name of ['one.backup', '.']) {
      expect(await refusal(place, 'backup', name)).toMatchObject({
        code: 'store_backup_failed',
        details: { problem: 'file_exists', file: path.join(place.folder, name) },
      });
    }
    expect(statSync(file).size).toBe(bytes);
    expect(await refusal(place, 'backup', 'no/folder/file')).toMatchObject({ retryable: false });
    expect(readdirSync(place.folder).filter((name) => name.includes('partial'))).toEqual([]);
    // The daemon did not notice.
    await addIssue(place, untilDone);
    await untilStatus(place, { counts: { running: 3 } });
    await daemon.stop();

    expect(await answer(place, 'restore', file, '--state-dir', 'fresh')).toEqual({ restored: true, kept: null });
    expect(await identifiersIn(place, '--state-dir', 'fresh')).toEqual(['BAT-1', 'BAT-2']);
    expect(await identifiersIn(place)).toEqual(['BAT-1', 'BAT-2', 'BAT-3']);
    const { runs } = await answer(place, 'runs', 'list', '--state-dir', 'fresh');
    expect(runs).toHaveLength(2);
    expect(await addIssue(place, untilDone, '--state-dir', 'fresh')).toBe('BAT-3');
  });

  it('refuse a store with content unless --replace is given, and then keep the old one next to it', async () => {
    using place = givenPlace();
    await addIssue(place, untilDone);
    await answer(place, 'backup', 'one.backup');
    await addIssue(place, untilDone);
    expect(await refusal(place, 'restore', 'one.backup')).toMatchObject({ code: 'store_not_empty' });
    place.write('no.backup', 'not a database at all');
    for (const name of ['no.backup', 'missing.backup', '.']) {
      const error = await refusal(place, 'restore', name, '--replace');
      expect(error.code).not.toBe('internal_error');
    }
    expect(await identifiersIn(place)).toEqual(['BAT-1', 'BAT-2']);
    expect(kept(place)).toEqual([]);

    const restored = await answer(place, 'restore', 'one.backup', '--replace');
    expect(await identifiersIn(place)).toEqual(['BAT-1']);
    expect(kept(place)).toEqual([path.basename(restored.kept)]);
    const again = await batonHere(place, 'restore', restored.kept, '--replace');
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(await identifiersIn(place)).toEqual(['BAT-1', 'BAT-2']);
    expect(kept(place)).toHaveLength(2);
    // What was there before is named.
    const [fresh = ''] = kept(place).filter((name) => name !== path.basename(restored.kept));
    expect(again.stdout).toContain(` ${path.join(stateFolderOf(place), fresh)}\n`);
  });

  it('report that there is nothing to back up, and create nothing', async () => {
    using place = givenPlace();
    expect(await refusal(place, 'backup', 'one.backup')).toMatchObject({
      code: 'store_backup_failed',
      details: { problem: 'no_store' },
    });
    expect(existsSync(path.join(place.folder, 'one.backup'))).toBe(false);
    expect(existsSync(place.state)).toBe(false);
  });
});

describe.concurrent('baton store copy', liveTest, () => {
  it('copies everything to a new file and back, and never into a store with content', async () => {
    using place = givenPlace();
    await addIssue(place, untilDone, '--label', 'x');
    await addIssue(place, untilDone, '--blocked-by', 'BAT-1');
    const there = `sqlite:${place.folder}/there.db`;
    const { rows } = await answer(place, 'store', 'copy', '--to', there);
    expect(rows).toMatchObject({ projects: 1, board_issues: 2 });
    const shown = await answer(place, 'issue', 'show', 'BAT-2');

    place.write('THERE.md', boardWorkflow(`store: {url: "${there}"}`));
    expect(await answer(place, 'issue', 'show', 'BAT-2', '--workflow', 'THERE.md')).toEqual(shown);
    expect(await addIssue(place, untilDone, '--workflow', 'THERE.md')).toBe('BAT-3');
    expect(await refusal(place, 'store', 'copy', '--to', there)).toMatchObject({ code: 'store_not_empty' });

    const back = `sqlite:${place.folder}/back.db`;
    const plain = await batonHere(place, 'store', 'copy', '--workflow', 'THERE.md', '--to', back);
    expect(plain).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^\d+ .*store\.url/),
    });
    place.write('BACK.md', boardWorkflow(`store: {url: "${back}"}`));
    expect(await identifiersIn(place, '--workflow', 'BACK.md')).toEqual(['BAT-1', 'BAT-2', 'BAT-3']);
    expect(await identifiersIn(place)).toEqual(['BAT-1', 'BAT-2']);
    expect(await runsOf(place)).toEqual([]);
  });

  it('rejects a store in use, an unknown address, and itself, and prints no password', async () => {
    using place = givenPlace();
    const daemon = await startDaemon(place);
    expect(await refusal(place, 'store', 'copy', '--to', `sqlite:${place.folder}/x.db`)).toMatchObject({
      code: 'store_in_use',
      details: { pid: daemon.child.pid },
    });
    expect(existsSync(path.join(place.folder, 'x.db'))).toBe(false);
    await stopDaemon(daemon);
    const own = `sqlite:${path.join(stateFolderOf(place), 'baton.db')}`;
    expect(await refusal(place, 'store', 'copy', '--to', own)).toMatchObject({ code: 'store_not_empty' });
    for (const to of ['mysql://u:canary@h/d', 'nonsense canary', 'sqlite:']) {
      const error = await refusal(place, 'store', 'copy', '--to', to);
      expect(error).toMatchObject({ code: 'store_url_unsupported' });
      expect(JSON.stringify(error)).not.toContain('canary');
    }
    const error = await refusal(place, 'store', 'copy', '--to', 'postgres://u:canary@127.0.0.1:1/d');
    expect(error).toMatchObject({ code: 'store_unavailable', retryable: true });
    expect(JSON.stringify(error)).not.toContain('canary');
  });
});

describe.concurrent('a store that is in use, or is not a store', liveTest, () => {
  // @conforms board.18
  it('is restored under a running daemon, which continues with the backup', async () => {
    using place = givenPlace();
    const held = await addIssue(place, untilDone);
    await answer(place, 'issue', 'hold', held);
    const daemon = await daemonHere(place);
    await untilStatus(place, { held: [{ issue_identifier: held }] });
    await answer(place, 'backup', 'held.backup');
    await answer(place, 'issue', 'release', held);
    const later = await addIssue(place, untilDone);
    await untilStatus(place, { counts: { running: 2 } });

    expect(await refusal(place, 'restore', 'held.backup')).toMatchObject({
      code: 'store_in_use',
      next_step: expect.stringContaining('--replace'),
    });
    expect(await identifiersIn(place)).toEqual([held, later]);
    await answer(place, 'restore', 'held.backup', '--replace');
    expect(await identifiersIn(place)).toEqual([held]);
    expect(kept(place)).toHaveLength(1);
    // The run of the issue that the backup does not know is ended; the other is held when it has ended.
    await untilStatus(place, { running: [{ issue_identifier: held }] });
    await daemon.stop();
    expect(place.pids()).toEqual([]);
  });

  it('is left unchanged when it is not a store, and nothing starts', async () => {
    using place = givenPlace();
    await addIssue(place, untilDone);
    const file = path.join(stateFolderOf(place), 'baton.db');
    for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
    writeFileSync(file, 'somebody put a letter here');
    for (const command of [['start'], ['status'], ['issue', 'list']]) {
      const { code, stderr } = await baton(place, ...command);
      expect({ command, code }).toEqual({ command, code: 1 });
      expect(stderr).toMatch(/store_(corrupt|foreign)/);
    }
    expect(readFileSync(file, 'utf8')).toBe('somebody put a letter here');
  });
});
