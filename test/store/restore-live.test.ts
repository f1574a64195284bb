import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { backupStore } from '../../src/store/backup-store.ts';
import { openStore } from '../../src/store/open-store.ts';
import { restoreLive } from '../../src/store/restore-live.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function scratch(): { url: string; file: (name: string) => string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-live-'));
  folders.push(folder);
  return { url: `sqlite:${path.join(folder, 'baton.db')}`, file: (name) => path.join(folder, name) };
}

it('exchanges the content under a daemon that goes on reading and writing, and keeps the old one', async () => {
  const { url, file } = scratch();
  const daemon = await openStore({ url, clock: systemClock, mode: 'daemon' });
  await daemon.projects.ensure('before', 1);
  backupStore(url, file('backup.db'));
  await daemon.projects.ensure('after', 2);

  const kept = await restoreLive({ file: file('backup.db'), url, clock: systemClock });
  expect((await daemon.projects.list()).map(({ name }) => name)).toEqual(['before']);
  await daemon.projects.ensure('later', 3);
  expect((await daemon.projects.list()).map(({ name }) => name).toSorted()).toEqual(['before', 'later']);
  await daemon.close();

  const old = await openStore({ url: `sqlite:${kept}`, clock: systemClock, mode: 'visitor' });
  expect((await old.projects.list()).map(({ name }) => name).toSorted()).toEqual(['after', 'before']);
  await old.close();
});

it('never lowers the generation of a claim', async () => {
  const { url, file } = scratch();
  const daemon = await openStore({ url, clock: systemClock, mode: 'daemon' });
  const project = (await daemon.projects.ensure('p', 1)).id;
  const take = (issueId: string) =>
    daemon.claims.take({ project, issueId }, { owner: 'me', at: systemClock.now(), leaseMs: 60_000 });
  const release = (issueId: string, generation: number) =>
    daemon.claims.release({ project, issueId }, { owner: 'me', generation });
  await take('early');
  await release('early', 1);
  backupStore(url, file('backup.db'));
  await take('early');
  await release('early', 2);
  await take('late');
  await restoreLive({ file: file('backup.db'), url, clock: systemClock });
  expect((await take('early'))?.generation).toBe(3);
  expect((await take('late'))?.generation).toBe(2);
  await daemon.close();
});

it('refuses a file that is no backup, and changes nothing', async () => {
  const { url, file } = scratch();
  const daemon = await openStore({ url, clock: systemClock, mode: 'daemon' });
  await daemon.projects.ensure('mine', 1);
  writeFileSync(file('backup.db'), 'no database at all');
  await expect(restoreLive({ file: file('backup.db'), url, clock: systemClock })).rejects.toMatchObject({
    code: expect.stringMatching(/^store_/),
  });
  expect(await daemon.projects.list()).toHaveLength(1);
  await daemon.close();
});
