import { describe, expect, it } from 'vitest';
import { type Malformation, malformations } from '../../fake/linear/faults.ts';
import { type LinearScene, linearScene } from './linear-scene.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

function addMany({ linear }: LinearScene, count: number, state = 'Todo'): string[] {
  return Array.from({ length: count }, () => linear.addIssue({ state }).id);
}

/** Polls until everything that was added is read and no late change can appear. */
async function settle({ clock, poll }: LinearScene): Promise<void> {
  await poll();
  await clock.advance(10 * minuteMs);
  await poll();
}

describe('the seen issues of a snapshot', () => {
  it('are absent after a full read, which sees everything', async () => {
    const scene = linearScene();
    addMany(scene, 3);
    expect(await scene.poll()).not.toHaveProperty('seen');
    await scene.clock.advance(hourMs);
    expect(await scene.poll()).not.toHaveProperty('seen');
  });

  // @conforms linear.11
  it('are the changed, watched, blocked and welcome issues, and none that is only known from before', async () => {
    const scene = linearScene();
    const { linear, poll } = scene;
    const [changed = '', watched = '', blocked = '', welcome = '', freed = '', left = ''] = addMany(scene, 7);
    const [over = '', blocker = ''] = addMany(scene, 2, 'In Review');
    linear.relate(watched, blocked);
    linear.relate(blocker, freed);
    await settle(scene);
    linear.updateIssue(changed, { title: 'New' });
    linear.updateIssue(left, { state: 'Done' });
    linear.updateIssue(blocker, { state: 'Done' });
    const wish = { watched: [watched, over], welcome: [welcome] };
    const { seen, issues } = await poll(wish);
    // `freed` still counts as blocked, so it is due for a re-read.
    expect(seen).toEqual(new Set([changed, watched, blocked, welcome, freed]));
    expect(issues).toHaveLength(6);
  });

  it('are none when nothing was requested and nothing changed', async () => {
    const scene = linearScene();
    addMany(scene, 3);
    await settle(scene);
    expect((await scene.poll()).seen).toEqual(new Set());
  });
});

describe('welcome issues', () => {
  it('ride along after the watched and the blocked ones while there is space, and never cost a request', async () => {
    const scene = linearScene();
    const { linear, poll, operationsOf } = scene;
    const watched = addMany(scene, 6, 'In Progress');
    const blocked = addMany(scene, 2);
    for (const id of blocked) linear.relate(watched[0] ?? '', id);
    const welcome = addMany(scene, 5, 'Done');
    await settle(scene);
    let found = await poll({ watched, welcome });
    const operations = await operationsOf(async () => {
      found = await poll({ watched, welcome });
    });
    expect(operations).toEqual(['BatonChanges']);
    expect([...found.watched.keys()]).toEqual([...watched, ...welcome.slice(0, 2)]);
    expect(found.watched.get(welcome[0] ?? '')?.state).toBe('Done');
    const many = [...watched, ...addMany(scene, 6, 'In Progress')];
    expect([...(await poll({ watched: many, welcome })).watched.keys()].slice(0, 12)).toEqual(many);
  });

  it('ride along with a full read too, and are null when they no longer exist', async () => {
    const scene = linearScene();
    const { linear, poll, operationsOf } = scene;
    const [gone = '', there = ''] = addMany(scene, 2, 'Done');
    linear.remove(gone);
    let found = await poll({ states: ['Todo'] });
    const operations = await operationsOf(async () => {
      found = await poll({ welcome: [gone, there, gone, 'BAT-1'] });
    });
    expect(operations).toEqual(['BatonFullRead']);
    expect([...found.watched]).toEqual([
      [gone, null],
      [there, expect.objectContaining({ id: there })],
    ]);
  });

  it('are skipped without an error when their records are malformed', async () => {
    const scene = linearScene();
    const { linear, poll } = scene;
    const [bad = '', good = ''] = addMany(scene, 2, 'Done');
    await settle(scene);
    linear.faults.malformed.set(bad, malformations.nullTitle);
    const found = await poll({ welcome: [bad, good] });
    expect([...found.watched.keys()]).toEqual([good]);
    expect(found.watchedProblem).toBeNull();
  });
});

describe('a watched issue with a malformed record', () => {
  const broken: readonly [string, Malformation][] = [
    ['without a state', malformations.withoutState],
    ['without relations', (record) => ({ ...record, inverseRelations: null })],
    ['that is null', malformations.nullNode],
    ['without a name', (record) => ({ ...record, identifier: null })],
  ];

  // @conforms linear.10
  it.each(broken)('%s is missing and named, and everything else is answered', async (_what, malformation) => {
    const scene = linearScene();
    const { linear, poll, operationsOf } = scene;
    const [bad = '', good = ''] = addMany(scene, 2, 'In Progress');
    await poll({ watched: [bad, good] });
    linear.faults.malformed.set(bad, malformation);
    const added = linear.addIssue().id;
    linear.updateIssue(good, { state: 'In Review' });
    const found = await poll({ watched: [bad, good] });
    expect([...found.watched.keys()]).toEqual([good]);
    expect(found.watched.get(good)?.state).toBe('In Review');
    expect(found.issues.map(({ id }) => id)).toContain(added);
    expect(found.watchedProblem).toMatchObject({ code: 'tracker_response', details: { ids: [bad] } });
    expect(found.watchedProblem?.message).toContain(linear.issue(bad).identifier);
    // It does not cause a full read.
    expect(await operationsOf(() => poll({ watched: [bad, good] }))).toEqual(['BatonChanges']);
    linear.faults.clear();
    const after = await poll({ watched: [bad, good] });
    expect(after.watched.get(bad)?.id).toBe(bad);
    expect(after.watchedProblem).toBeNull();
    expect(after.issues.map(({ id }) => id)).toContain(bad);
  });

  it.each(broken)(
    '%s is missing and named among many watched issues, in a full read and after it',
    async (_what, how) => {
      const scene = linearScene();
      const { linear, poll } = scene;
      const watched = [...addMany(scene, 20, 'In Progress'), ...addMany(scene, 20, 'Done')];
      const bad = [watched[3] ?? '', watched[33] ?? ''];
      for (const id of bad) linear.faults.malformed.set(id, how);
      for (let count = 0; count < 2; count += 1) {
        const found = await poll({ watched });
        expect([...found.watched.keys()].toSorted()).toEqual(watched.filter((id) => !bad.includes(id)).toSorted());
        expect([...found.watched.values()].every((issue) => issue !== null)).toBe(true);
        expect(found.watchedProblem?.details.ids).toEqual(bad);
      }
    },
  );

  it('is named by its id when nothing else is known, also when only watched issues are requested', async () => {
    const { linear, poll } = linearScene();
    const { id } = linear.addIssue({ state: 'Done' });
    linear.faults.malformed.set(id, malformations.nullNode);
    const found = await poll({ states: [], watched: [id] });
    expect([...found.watched]).toEqual([]);
    expect(found.watchedProblem?.message).toContain(id);
  });

  it('without an id makes every missing issue uncertain, and no issue that was read', async () => {
    const scene = linearScene();
    const { linear, poll } = scene;
    const [bad = '', gone = '', good = ''] = addMany(scene, 3, 'In Review');
    await settle(scene);
    linear.remove(gone);
    linear.faults.malformed.set(bad, malformations.nullNode);
    const found = await poll({ watched: [bad, gone, good] });
    expect([...found.watched.keys()]).toEqual([good]);
    expect(found.watchedProblem?.details.ids).toEqual([bad, gone]);
    linear.faults.clear();
    expect((await poll({ watched: [bad, gone, good] })).watched.get(gone)).toBeNull();
  });
});

describe('a long read', () => {
  it('reports progress after each answered request', async () => {
    const scene = linearScene({ assignee: 'me' });
    const { linear, tracker, clock } = scene;
    const watched = addMany(scene, 120);
    const told: number[] = [];
    const ask = { onProgress: () => void told.push(linear.requests.length) };
    const wish = { states: ['Todo'], watched: [...watched, ...addMany(scene, 1, 'Done')] };
    await tracker.fetchSnapshot?.(wish, ask);
    expect(linear.counts()).toEqual({ BatonViewer: 1, BatonFullRead: 1, BatonCandidates: 2, BatonIssuesById: 1 });
    expect(told).toEqual([1, 2, 3, 4, 5]);
    await clock.advance(minuteMs);
    await tracker.fetchSnapshot?.(wish, ask);
    await tracker.fetchByStates(['Todo'], ask);
    await tracker.fetchByIds(watched, ask);
    expect(told).toHaveLength(linear.requests.length);
  });

  it('reports no progress for a request without an answer', async () => {
    const { linear, tracker } = linearScene();
    linear.faults.next.push({ kind: 'cut', where: 'before_head' });
    const told: string[] = [];
    const ask = { onProgress: () => void told.push('an answer') };
    await expect(tracker.fetchSnapshot?.({ states: ['Todo'], watched: [] }, ask)).rejects.toThrow();
    expect(told).toEqual([]);
  });
});
