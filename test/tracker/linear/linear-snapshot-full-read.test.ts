import { describe, expect, it } from 'vitest';
import { type LinearScene, linearScene } from './linear-scene.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

function addMany({ linear }: LinearScene, count: number, state = 'Todo'): string[] {
  return Array.from({ length: count }, () => linear.addIssue({ state }).id);
}

/** A project of three pages, known for an hour, whose third page can no longer be read. */
async function brokenProject(): Promise<LinearScene & { readonly all: string[] }> {
  const scene = linearScene();
  const all = addMany(scene, 120);
  await scene.poll();
  // They came all at once, so they are read again after two minutes.
  await scene.clock.advance(2 * minuteMs);
  await scene.poll();
  await scene.clock.advance(hourMs);
  scene.linear.faults.page = { field: 'issues', page: 3, fault: { kind: 'status', status: 500 } };
  return { ...scene, all };
}

const wholeFull = ['BatonFullRead', 'BatonCandidates', 'BatonCandidates'];

describe('a full read that fails in the middle', () => {
  // @conforms linear.8
  it('fails one poll, changes nothing, and the next poll continues from the known state', async () => {
    const scene = await brokenProject();
    const { linear, all, poll, operationsOf, fresh } = scene;
    const [closed = '', renamed = '', moved = ''] = all;
    linear.updateIssue(closed, { state: 'Done' });
    linear.updateIssue(renamed, { title: 'New' });
    await expect(poll({ watched: [closed] })).rejects.toMatchObject({ code: 'tracker_status' });
    linear.updateIssue(moved, { state: 'In Progress' });
    let next = await poll({ watched: [closed, moved] });
    const operations = await operationsOf(async () => {
      next = await poll({ watched: [closed, moved] });
    });
    expect(operations).toEqual(['BatonChanges']);
    expect(next.watched.get(closed)?.state).toBe('Done');
    expect(next.watched.get(moved)?.state).toBe('In Progress');
    linear.faults.clear();
    expect(next.issues).toEqual(await fresh().fetchByStates(['Todo', 'In Progress']));
  });

  // @conforms linear.9
  it('is repeated after five minutes, then after twice as long each time, up to an hour', async () => {
    const { linear, clock, poll, operationsOf } = await brokenProject();
    const triedAt: number[] = [];
    const begun = clock.now();
    let spent = 0;
    for (let minute = 0; minute < 5 * 60; minute += 1) {
      const operations = await operationsOf(() => poll().catch(() => {}));
      spent += operations.length;
      if (operations[0] === 'BatonFullRead') triedAt.push((clock.now() - begun) / minuteMs);
      else expect(operations).toEqual(['BatonChanges']);
      await clock.advance(minuteMs);
    }
    expect(triedAt).toEqual([0, 5, 15, 35, 75, 135, 195, 255]);
    expect(spent).toBe(5 * 60 + 2 * triedAt.length);
    linear.faults.clear();
    await clock.advance(hourMs);
    expect(await operationsOf(poll)).toEqual(wholeFull);
    await clock.advance(hourMs - 1);
    expect(await operationsOf(poll)).toEqual(['BatonChanges']);
    await clock.advance(1);
    linear.faults.page = { field: 'issues', page: 2, fault: { kind: 'status', status: 500 } };
    await expect(poll()).rejects.toMatchObject({ code: 'tracker_status' });
    await clock.advance(5 * minuteMs);
    expect(await operationsOf(() => poll().catch(() => {}))).toEqual(wholeFull.slice(0, 2));
  });

  it.each([
    ['by a malformed answer', { kind: 'garbage' }],
    ['because of too many requests', { kind: 'rate_limit', status: 429 }],
    ['by a cut connection', { kind: 'cut', where: 'in_body' }],
  ] as const)('%s is delayed in the same way', async (_how, fault) => {
    const { linear, clock, poll, operationsOf } = await brokenProject();
    linear.faults.page = { field: 'issues', page: 2, fault };
    await expect(poll()).rejects.toMatchObject({ code: expect.stringMatching(/^tracker_/) });
    linear.faults.clear();
    await clock.advance(4 * minuteMs);
    expect(await operationsOf(poll)).toEqual(['BatonChanges']);
    await clock.advance(minuteMs);
    expect(await operationsOf(poll)).toEqual(wholeFull);
  });

  it('is delayed in the same way when it was cancelled because it took too long', async () => {
    const { linear, clock, tracker, poll, operationsOf } = await brokenProject();
    const giveUp = new AbortController();
    linear.faults.betweenPages = () => giveUp.abort(new Error('enough'));
    const wish = { states: ['Todo', 'In Progress'], watched: [] };
    await expect(tracker.fetchSnapshot?.(wish, { signal: giveUp.signal })).rejects.toThrow('enough');
    linear.faults.clear();
    await clock.advance(minuteMs);
    expect(await operationsOf(poll)).toEqual(['BatonChanges']);
  });

  it('is delayed in the same way after its last page, with the watched issues', async () => {
    const { linear, all, clock, poll, operationsOf } = await brokenProject();
    linear.faults.clear();
    const watched = [...addMany({ linear } as LinearScene, 20, 'Done'), ...all.slice(0, 3)];
    linear.faults.next.push({ kind: 'status', status: 500, operation: 'BatonIssuesById' });
    await expect(poll({ watched })).rejects.toMatchObject({ code: 'tracker_status' });
    await clock.advance(minuteMs);
    const operations = await operationsOf(() => poll({ watched }));
    expect(operations).toEqual(['BatonChanges', 'BatonMoreChanges', 'BatonIssuesById']);
  });

  it('fails each poll when there is no known state: at the start, and after the states changed', async () => {
    const scene = linearScene();
    const { linear, clock, poll, operationsOf } = scene;
    addMany(scene, 120);
    linear.faults.page = { field: 'issues', page: 2, fault: { kind: 'status', status: 500 } };
    for (let count = 0; count < 3; count += 1) {
      await expect(poll()).rejects.toMatchObject({ code: 'tracker_status' });
    }
    linear.faults.clear();
    await poll();
    linear.faults.page = { field: 'issues', page: 2, fault: { kind: 'status', status: 500 } };
    for (let count = 0; count < 3; count += 1) {
      await expect(poll({ states: ['Todo'] })).rejects.toMatchObject({ code: 'tracker_status' });
    }
    await clock.advance(minuteMs);
    expect(await operationsOf(poll)).toEqual(['BatonChanges']);
  });
});

// @conforms linear.29
it('does not hide changes that fit on one page', async () => {
  const { linear, all, clock, poll, fresh } = await brokenProject();
  await expect(poll()).rejects.toMatchObject({ code: 'tracker_status' });
  await clock.advance(minuteMs);
  for (const id of all.slice(0, 40)) linear.updateIssue(id, { state: 'Done' });
  const { issues } = await poll();
  linear.faults.clear();
  expect(issues).toEqual(await fresh().fetchByStates(['Todo', 'In Progress']));
  expect(issues).toHaveLength(80);
});

describe('more changes than can be read while full reads fail', () => {
  it('leave watched issues current, cost one request per poll, and appear with the next full read', async () => {
    const { linear, all, clock, poll, operationsOf, fresh } = await brokenProject();
    await expect(poll()).rejects.toMatchObject({ code: 'tracker_status' });
    for (const id of all.slice(0, 100)) linear.updateIssue(id, { state: 'Done' });
    const [oldest = ''] = all;
    await clock.advance(minuteMs);
    const added = linear.addIssue().id;
    for (let count = 0; count < 3; count += 1) {
      let found = await poll({ watched: [oldest] });
      const operations = await operationsOf(async () => {
        found = await poll({ watched: [oldest] });
      });
      expect(operations).toEqual(['BatonChanges']);
      expect(found.watched.get(oldest)?.state).toBe('Done');
      expect(found.seen?.has(added)).toBe(true);
      // Those that were reached, newest first.
      expect(found.issues).toHaveLength(121 - 40);
      await clock.advance(minuteMs);
    }
    linear.faults.clear();
    await clock.advance(minuteMs);
    const whole = await poll();
    expect(whole.seen).toBeUndefined();
    expect(whole.issues).toEqual(await fresh().fetchByStates(['Todo', 'In Progress']));
    expect(whole.issues).toHaveLength(21);
    expect(await operationsOf(poll)).toEqual(['BatonChanges']);
  });

  it('are not read page by page with each poll', async () => {
    const scene = linearScene();
    const { linear, clock, poll, operationsOf } = scene;
    const all = addMany(scene, 400);
    await poll();
    await clock.advance(2 * minuteMs);
    await poll();
    await clock.advance(10 * minuteMs);
    for (const id of all) linear.updateIssue(id, { title: 'Touched' });
    linear.faults.page = { field: 'issues', page: 5, fault: { kind: 'status', status: 500 } };
    const spent: number[] = [];
    for (let count = 0; count < 7; count += 1) {
      spent.push((await operationsOf(() => poll().catch(() => {}))).length);
      await clock.advance(minuteMs);
    }
    // The changes up to half a full read, the full read up to the page that fails, the changes again as far as possible,
    // the newest of them, and the full read after five minutes.
    expect(spent).toEqual([4 + 5, 4, 1, 1, 1, 5, 1]);
    linear.faults.clear();
    await clock.advance(10 * minuteMs);
    expect((await poll()).issues.every(({ title }) => title === 'Touched')).toBe(true);
  });
});
