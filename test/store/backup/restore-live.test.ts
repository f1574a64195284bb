import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { backupStore } from '../../../src/store/backup/backup-store.ts';
import { restoreLive } from '../../../src/store/backup/restore-live.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { project, runStart } from '../../conformance/store.ts';
import { makeUnreleased } from '../unreleased-store.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function scratch(): { url: string; file: (name: string) => string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-live-'));
  folders.push(folder);
  return { url: `sqlite:${path.join(folder, 'baton.db')}`, file: (name) => path.join(folder, name) };
}

it('replaces the content under a daemon that keeps reading and writing, and keeps the old content', async () => {
  const { url, file } = scratch();
  const daemon = await openStore({ url, clock: systemClock, mode: 'daemon' });
  await daemon.projects.ensure('before', 1);
  const timer = { project: 'before', job: 'scan', owner: 'me', lastRunAt: 1, nextDueAt: 2 } as const;
  const failed = { ...timer, outcome: 'failed', durationMs: 3, failures: 4, error: 'no' } as const;
  await daemon.jobTimers.put(failed);
  backupStore(url, file('backup.db'));
  await daemon.projects.ensure('after', 2);
  await daemon.jobTimers.put({ ...failed, owner: '' });

  const kept = await restoreLive({ file: file('backup.db'), url, clock: systemClock });
  expect((await daemon.projects.list()).map(({ name }) => name)).toEqual(['before']);
  expect(await daemon.jobTimers.list('before')).toEqual([failed]);
  await daemon.projects.ensure('later', 3);
  expect((await daemon.projects.list()).map(({ name }) => name).toSorted()).toEqual(['before', 'later']);
  await daemon.close();

  const old = await openStore({ url: `sqlite:${kept}`, clock: systemClock, mode: 'visitor' });
  expect((await old.projects.list()).map(({ name }) => name).toSorted()).toEqual(['after', 'before']);
  await old.close();
});

it('fences every holder of a claim, then and now: generations grow and every lease ends', async () => {
  const { url, file } = scratch();
  const daemon = await openStore({ url, clock: systemClock, mode: 'daemon' });
  const project = (await daemon.projects.ensure('p', 1)).id;
  const take = (issueId: string) =>
    daemon.claims.take(
      { project, issueId },
      { owner: 'me', host: 'here', at: systemClock.now(), leaseMs: 60_000, slotState: 'Todo' },
    );
  const release = (issueId: string, generation: number) =>
    daemon.claims.release({ project, issueId }, { owner: 'me', generation });
  await take('early');
  await release('early', 1);
  await take('both');
  backupStore(url, file('backup.db'));
  await take('early');
  await take('late');
  await restoreLive({ file: file('backup.db'), url, clock: systemClock });

  const held = await daemon.claims.held(project, systemClock.now());
  expect(held).toMatchObject([
    { issueId: 'both', owner: 'me', generation: 2, isExpired: true, slotState: 'Todo', host: 'here' },
  ]);
  for (const [issueId, generation] of [
    ['both', 1],
    ['early', 2],
    ['late', 1],
  ] as const) {
    const before = { owner: 'me', generation };
    expect(await daemon.transaction(({ claims }) => claims.verify({ project, issueId }, before))).toBe(false);
    expect((await take(issueId))?.generation, issueId).toBe(generation + 2);
  }
  await daemon.close();
});

it('restores open questions and parked accounts as they were in the backup', async () => {
  const { url, file } = scratch();
  const daemon = await openStore({ url, clock: systemClock, mode: 'daemon' });
  const question = { kind: 'input', text: 'Which?', detail: '', fields: [] } as const;
  const asked = { project: 'p', issueId: 'i', identifier: 'I', runId: 'r', askedAt: 1, question };
  const account = { backend: 'codex', name: 'a', windows: [], parks: 1 };
  const parked = { until: 5, since: 1, why: 'quota', reason: 'used up' } as const;
  await daemon.questions.ask({ ...asked, id: 'q1' });
  await daemon.accounts.put({ ...account, parked }, 1);
  backupStore(url, file('backup.db'));
  const author = { kind: 'person', name: 'Ada' } as const;
  await daemon.questions.answer('q1', { at: 2, author, answer: { decision: 'accept', values: {} } });
  await daemon.questions.ask({ ...asked, id: 'q2' });
  await daemon.accounts.put({ ...account, parked: null }, 2);
  await restoreLive({ file: file('backup.db'), url, clock: systemClock });
  expect((await daemon.questions.open('p')).map(({ id }) => id)).toEqual(['q1']);
  expect(await daemon.questions.undelivered({ project: 'p', issueId: 'i' })).toEqual([]);
  expect(await daemon.accounts.list()).toEqual([{ ...account, parked }]);
  await daemon.close();
});

// @conforms runs.46
it('keeps the order of the runs and continues their numbers', async () => {
  const { url, file } = scratch();
  const daemon = await openStore({ url, clock: systemClock, mode: 'daemon' });
  const order = async () => (await daemon.runs.list(project, { limit: 9 })).map(({ runId }) => runId);
  // By a clock that is set back again and again.
  await daemon.runs.start(runStart('z', { startedAt: 9 }));
  await daemon.runs.start(runStart('a', { startedAt: 5 }));
  backupStore(url, file('backup.db'));
  await daemon.runs.start(runStart('lost', { startedAt: 4 }));
  await restoreLive({ file: file('backup.db'), url, clock: systemClock });
  expect(await order()).toEqual(['a', 'z']);
  await daemon.runs.start(runStart('m', { startedAt: 1 }));
  expect(await order()).toEqual(['m', 'a', 'z']);
  await daemon.close();
});

it('refuses a backup of an unreleased build, and changes nothing', async () => {
  const { url, file } = scratch();
  await makeUnreleased(file('backup.db'));
  const daemon = await openStore({ url, clock: systemClock, mode: 'daemon' });
  await daemon.projects.ensure('mine', 1);
  await expect(restoreLive({ file: file('backup.db'), url, clock: systemClock })).rejects.toMatchObject({
    code: 'store_unreleased',
  });
  expect(await daemon.projects.list()).toHaveLength(1);
  await daemon.close();
});

it('refuses a file that is not a backup, and changes nothing', async () => {
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
