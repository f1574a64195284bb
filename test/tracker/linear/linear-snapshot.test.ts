import { describe, expect, it } from 'vitest';
import type { Issue } from '../../../src/core/issue/issue.ts';
import { malformations } from '../../fake/linear/faults.ts';
import { type LinearScene, linearScene } from './linear-scene.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const ids = (issues: readonly Issue[]): string[] => issues.map(({ id }) => id);

function addMany({ linear }: LinearScene, count: number, state = 'Todo'): string[] {
  return Array.from({ length: count }, () => linear.addIssue({ state }).id);
}

/** Polls until everything that was added is read and no late change can appear. */
async function settle({ clock, poll }: LinearScene): Promise<void> {
  await poll();
  await clock.advance(10 * minuteMs);
  await poll();
}

it('a project that does not exist is an error, not a project without issues', async () => {
  const scene = linearScene({ project_slug: 'nowhere' });
  await expect(scene.poll()).rejects.toMatchObject({
    code: 'invalid_tracker_config',
    details: { key: 'tracker.provider.project_slug', problem: 'not_found', slug: 'nowhere' },
  });
  expect((await linearScene().poll()).issues).toEqual([]);
});

describe('a poll', () => {
  // @conforms linear.5
  it('costs one request when nothing changed, also with ten watched issues', async () => {
    const scene = linearScene();
    const watched = [...addMany(scene, 5, 'In Review'), ...addMany(scene, 5, 'In Progress')];
    addMany(scene, 20);
    expect(await scene.operationsOf(() => scene.poll({ watched }))).toEqual(['BatonFullRead']);
    for (let count = 0; count < 20; count += 1) {
      await scene.clock.advance(30_000);
      expect(await scene.operationsOf(() => scene.poll({ watched }))).toEqual(['BatonChanges']);
    }
    expect(scene.linear.complaints).toEqual([]);
  });

  // @conforms linear.6
  it('costs two requests with 50 watched issues and 500 candidates when nothing changed', async () => {
    const scene = linearScene();
    const watched = addMany(scene, 50, 'In Progress');
    const blocked = addMany(scene, 500);
    for (const id of blocked.slice(0, 30)) scene.linear.relate(watched[0] ?? '', id);
    await scene.clock.advance(10 * minuteMs);
    scene.linear.updateIssue(watched[0] ?? '', { title: 'The last change' });
    const first = await scene.poll({ watched });
    expect(first.issues).toHaveLength(550);
    await scene.clock.advance(30_000);
    let second = first;
    const operations = await scene.operationsOf(async () => {
      second = await scene.poll({ watched });
    });
    expect(operations).toEqual(['BatonChanges', 'BatonIssuesById']);
    expect(second.issues).toBe(first.issues);
    expect([...second.watched.values()].every((issue, at) => issue === [...first.watched.values()][at])).toBe(true);
  });

  it('does not request an issue by id that a full read has just returned', async () => {
    const scene = linearScene();
    const watched = addMany(scene, 30, 'In Progress');
    const [extra = ''] = addMany(scene, 1, 'Done');
    expect(await scene.operationsOf(() => scene.poll({ watched }))).toEqual(['BatonFullRead']);
    await scene.clock.advance(hourMs);
    const operations = await scene.operationsOf(() => scene.poll({ watched: [...watched, extra] }));
    expect(operations).toEqual(['BatonFullRead', 'BatonIssuesById']);
    expect(scene.linear.requests.at(-1)?.variables).toMatchObject({ filter: { id: { in: [extra] } }, first: 1 });
  });

  it("takes at most ten issues along, and costs few of Linear's points", async () => {
    const scene = linearScene();
    const { linear } = scene;
    const watched = addMany(scene, 8, 'In Progress');
    for (const id of addMany(scene, 100)) linear.relate(watched[0] ?? '', id);
    await settle(scene);
    linear.forgetRequests();
    for (const count of [0, 8]) await scene.poll({ watched: watched.slice(0, count) });
    for (const { variables, complexity } of linear.requests) {
      expect(variables).toMatchObject({ first: 10, ridingFirst: 10 });
      expect(complexity).toBeLessThan(1_100);
    }
  });

  it('returns the same objects for unchanged issues, and new ones for changed issues', async () => {
    const scene = linearScene();
    const { linear, clock, poll } = scene;
    const [changed = '', ...rest] = addMany(scene, 4);
    const first = await poll({ watched: rest.slice(0, 1) });
    await clock.advance(1_000);
    expect((await poll({ watched: rest.slice(0, 1) })).issues).toBe(first.issues);
    linear.updateIssue(changed, { title: 'Other words' });
    const second = await poll({ watched: rest.slice(0, 1) });
    for (const issue of second.issues) {
      const before = first.issues.find(({ id }) => id === issue.id);
      if (issue.id === changed) expect(issue.title).toBe('Other words');
      else expect(issue).toBe(before);
    }
    await clock.advance(hourMs);
    expect((await poll({ watched: rest.slice(0, 1) })).issues).toBe(second.issues);
  });

  it('sends nothing for an empty request, and reads only by id when only ids are requested', async () => {
    const { linear, poll, operationsOf } = linearScene();
    const { id } = linear.addIssue({ state: 'Done' });
    expect(await operationsOf(() => poll({ states: [] }))).toEqual([]);
    const snapshot = await poll({ states: [], watched: [id, 'BAT-1'] });
    expect(snapshot.issues).toEqual([]);
    expect([...snapshot.watched]).toEqual([
      [id, expect.objectContaining({ id, state: 'Done' })],
      ['BAT-1', null],
    ]);
  });

  // @conforms linear.7
  it('reads everything again after an hour and when the states change, and not otherwise', async () => {
    const { linear, clock, poll, operationsOf } = linearScene();
    linear.addIssue();
    await poll();
    await clock.advance(hourMs - 1);
    expect(await operationsOf(() => poll({ states: ['in progress', ' TODO'] }))).toEqual(['BatonChanges']);
    await clock.advance(1);
    expect(await operationsOf(poll)).toEqual(['BatonFullRead']);
    expect(await operationsOf(() => poll({ states: ['Todo'] }))).toEqual(['BatonFullRead']);
    expect(await operationsOf(() => poll({ states: ['Todo'] }))).toEqual(['BatonChanges']);
  });

  it('reads everything again after a sleep in which only the wall clock ran, and after that clock was set back', async () => {
    const { linear, clock, poll, operationsOf } = linearScene();
    linear.addIssue();
    await poll();
    clock.jumpWall(8 * hourMs);
    expect(await operationsOf(poll)).toEqual(['BatonFullRead']);
    clock.jumpWall(-8 * hourMs);
    expect(await operationsOf(poll)).toEqual(['BatonFullRead']);
    expect(await operationsOf(poll)).toEqual(['BatonChanges']);
  });

  it('reads everything rather than more pages of changes', async () => {
    const scene = linearScene();
    const { linear, clock, poll, operationsOf } = scene;
    addMany(scene, 30);
    const done = addMany(scene, 200, 'Done');
    await poll();
    await clock.advance(10 * minuteMs);
    for (const id of done) linear.updateIssue(id, { title: 'Touched' });
    const fresh = linear.addIssue().id;
    let found: readonly Issue[] = [];
    const operations = await operationsOf(async () => {
      found = (await poll()).issues;
    });
    expect(operations).toEqual(['BatonChanges', 'BatonFullRead']);
    expect(ids(found)).toContain(fresh);
    await clock.advance(3 * minuteMs);
    linear.updateIssue(fresh, { title: 'Again' });
    expect(await operationsOf(poll)).toEqual(['BatonFullRead']);
    expect(await operationsOf(poll)).toEqual(['BatonChanges']);
  });

  it('reads changes of more than one page when there are many candidates', async () => {
    const scene = linearScene();
    const { linear, poll, operationsOf } = scene;
    const all = addMany(scene, 400);
    await settle(scene);
    for (const id of all.slice(0, 90)) linear.updateIssue(id, { state: 'Done' });
    let found: readonly Issue[] = [];
    const operations = await operationsOf(async () => {
      found = (await poll()).issues;
    });
    expect(operations).toEqual(['BatonChanges', 'BatonMoreChanges', 'BatonMoreChanges']);
    expect(ids(found).toSorted()).toEqual(all.slice(90).toSorted());
  });

  it('misses no change while it reads several pages', async () => {
    const scene = linearScene();
    const { linear, clock, poll } = scene;
    const all = addMany(scene, 120);
    linear.faults.betweenPages = () => {
      clock.jumpWall(5 * minuteMs);
      linear.updateIssue(all.at(-1) ?? '', { title: `Changed at ${clock.now()}` });
    };
    await poll();
    linear.faults.betweenPages = null;
    const title = linear.issue(all.at(-1) ?? '').title;
    const found = (await poll()).issues.find(({ id }) => id === all.at(-1));
    expect(found?.title).toBe(title);
  });

  it('puts a new issue where Linear lists it', async () => {
    const { linear, clock, poll, tracker } = linearScene();
    linear.addIssue();
    await clock.advance(minuteMs);
    const later = linear.addIssue({ state: 'Backlog' }).id;
    await clock.advance(minuteMs);
    linear.addIssue();
    await poll();
    await clock.advance(minuteMs);
    linear.addIssue();
    linear.updateIssue(later, { state: 'Todo' });
    expect((await poll()).issues).toEqual(await tracker.fetchByStates(['Todo', 'In Progress']));
  });
});

describe('a change', () => {
  it('of a watched issue is seen at once, whatever it is, in the same request', async () => {
    const scene = linearScene();
    const { linear, clock, poll, operationsOf } = scene;
    linear.addProject({ slugId: 'other' });
    const blocker = linear.addIssue({ state: 'Backlog' }).id;
    const [out = '', archived = '', trashed = '', gone = '', blocked = '', labelled = ''] = addMany(scene, 6);
    const watched = [out, archived, trashed, gone, blocked, labelled];
    await poll({ watched });
    await clock.advance(10 * minuteMs);
    linear.updateIssue(out, { project: 'other' });
    linear.archive(archived);
    linear.trash(trashed);
    linear.remove(gone);
    linear.relate(blocker, blocked);
    linear.updateIssue(labelled, { labels: ['no-bots'] }, { touch: false });
    let snapshot = await poll({ watched: [] });
    const operations = await operationsOf(async () => {
      snapshot = await poll({ watched });
    });
    expect(operations).toEqual(['BatonChanges']);
    for (const id of [out, archived, trashed, gone]) expect(snapshot.watched.get(id)).toBeNull();
    expect(snapshot.watched.get(blocked)).toMatchObject({ blockedBy: [{ id: blocker }], dispatchable: false });
    expect(snapshot.watched.get(labelled)?.labels).toEqual(['no-bots']);
    expect(ids(snapshot.issues).toSorted()).toEqual([blocked, labelled].toSorted());
  });

  it('of a blocker in the project is seen at once in the issues that it blocks', async () => {
    const scene = linearScene();
    const { linear, poll, operationsOf } = scene;
    const blocker = linear.addIssue({ state: 'In Review' });
    const blocked = addMany(scene, 40);
    for (const id of blocked) linear.relate(blocker.id, id);
    await settle(scene);
    expect((await poll()).issues.every(({ dispatchable }) => !dispatchable)).toBe(true);
    linear.updateIssue(blocker.id, { state: 'Done' });
    let found: readonly Issue[] = [];
    const operations = await operationsOf(async () => {
      found = (await poll()).issues;
    });
    expect(operations).toEqual(['BatonChanges']);
    expect(found.every((issue) => issue.dispatchable && issue.blockedBy[0]?.state === 'Done')).toBe(true);
  });

  it('of a blocker elsewhere, or of a relation, is seen in turn, ten issues per poll', async () => {
    const scene = linearScene();
    const { linear, poll, operationsOf } = scene;
    linear.addProject({ slugId: 'other' });
    const elsewhere = linear.addIssue({ project: 'other' }).id;
    const blocked = addMany(scene, 35);
    for (const id of blocked) linear.relate(elsewhere, id);
    await settle(scene);
    linear.updateIssue(elsewhere, { state: 'Done' });
    const free: number[] = [];
    for (let count = 0; count < 4; count += 1) {
      const operations = await operationsOf(async () => {
        free.push((await poll()).issues.filter(({ dispatchable }) => dispatchable).length);
      });
      expect(operations).toEqual(['BatonChanges']);
    }
    expect(free).toEqual([10, 20, 30, 35]);
  });

  it.each([
    ['goes with it', true],
    ['stays', false],
  ])('that removes a blocker makes the blocked issues be read again once when the relation %s', async (_what, goes) => {
    const scene = linearScene();
    const { linear, poll, operationsOf } = scene;
    const [blocker = '', blocked = ''] = addMany(scene, 2);
    linear.relate(blocker, blocked);
    const inFront = addMany(scene, 60);
    for (const id of inFront) linear.relate(blocked, id);
    await settle(scene);
    linear.archive(blocker, { touch: true });
    if (goes) linear.unrelate(blocker, blocked);
    let found: readonly Issue[] = [];
    const operations = await operationsOf(async () => {
      found = (await poll()).issues;
    });
    expect(operations).toEqual(['BatonChanges', 'BatonIssuesById']);
    expect(found.find(({ id }) => id === blocked)?.blockedBy).toHaveLength(goes ? 0 : 1);
    expect(await operationsOf(poll)).toEqual(['BatonChanges']);
  });

  it('of the owner of the key changes the assignee at the next poll', async () => {
    const scene = linearScene({ assignee: 'me' });
    const { linear, poll, tracker } = scene;
    linear.addUser({ name: 'Other' });
    const { id } = linear.addIssue({ assignee: 'Someone' });
    await settle(scene);
    expect((await poll()).issues).toMatchObject([{ id, dispatchable: true }]);
    linear.setViewer('Other');
    linear.faults.next.push({ kind: 'status', status: 401 });
    await expect(tracker.fetchByIds([id])).rejects.toMatchObject({ code: 'tracker_auth' });
    expect((await poll()).issues).toMatchObject([{ id, dispatchable: false }]);
  });

  it('with a time far ahead hides no other change once its issue is gone and everything was read', async () => {
    const scene = linearScene();
    const { linear, clock, poll } = scene;
    const [ahead = '', other = ''] = addMany(scene, 2);
    Object.assign(linear.issue(ahead), { updatedAt: clock.now() + 24 * hourMs });
    await settle(scene);
    linear.remove(ahead);
    await clock.advance(hourMs);
    await poll();
    linear.updateIssue(other, { title: 'Seen' });
    expect((await poll()).issues).toMatchObject([{ id: other, title: 'Seen' }]);
  });

  it('that Linear shows late, with an earlier time, is still seen', async () => {
    const { linear, clock, poll } = linearScene();
    const late = linear.addIssue().id;
    const early = linear.addIssue().id;
    await poll();
    await clock.advance(10 * minuteMs);
    linear.updateIssue(early, { title: 'First to be seen' });
    await poll();
    linear.updateIssue(late, { state: 'Done' });
    Object.assign(linear.issue(late), { updatedAt: clock.now() - 110_000 });
    expect(ids((await poll()).issues)).toEqual([early]);
  });

  // @conforms linear.28
  it('in the millisecond of the newest known change is seen at once, although the full read listed only a few changes', async () => {
    const scene = linearScene();
    const { linear, poll, operationsOf } = scene;
    addMany(scene, 5);
    const [moved = ''] = addMany(scene, 35, 'Backlog');
    await poll();
    // The first page has ten places more than there were changes.
    expect(await operationsOf(poll)).toEqual(['BatonChanges', 'BatonMoreChanges']);
    linear.updateIssue(moved, { state: 'In Progress' });
    expect(linear.issue(moved).updatedAt).toBe(linear.issue(moved).createdAt);
    let found: readonly Issue[] = [];
    const operations = await operationsOf(async () => {
      found = (await poll()).issues;
    });
    expect(ids(found)).toContain(moved);
    expect(operations).toEqual(['BatonChanges']);
  });

  it('that Linear shows late is seen at once, also together with as many new ones as fit on the page', async () => {
    const scene = linearScene();
    const { linear, clock, poll, operationsOf } = scene;
    const [late = '', first = '', second = '', ...others] = addMany(scene, 30);
    await settle(scene);
    for (const id of [first, second]) {
      await clock.advance(10_000);
      linear.updateIssue(id, { title: 'Known' });
    }
    await poll();
    await clock.advance(minuteMs);
    for (const id of others.slice(0, 10)) linear.updateIssue(id, { title: 'New' });
    linear.updateIssue(late, { state: 'Done' });
    Object.assign(linear.issue(late), { updatedAt: clock.now() - 110_000 });
    let found: readonly Issue[] = [];
    const operations = await operationsOf(async () => {
      found = (await poll()).issues;
    });
    expect(ids(found)).not.toContain(late);
    expect(operations).toEqual(['BatonChanges', 'BatonMoreChanges']);
    expect(await operationsOf(poll)).toEqual(['BatonChanges']);
  });
});

describe('a failed poll', () => {
  it.each([
    ['by a status', { kind: 'status', status: 503 }, 'BatonChanges'],
    ['by a cut', { kind: 'cut', where: 'in_body' }, 'BatonChanges'],
    ['by what Linear said', { kind: 'garbage' }, 'BatonFullRead'],
    ['by an error extra data', { kind: 'graphql_errors', data: 'whole' }, 'BatonFullRead'],
    ['because of the key', { kind: 'status', status: 401 }, 'BatonFullRead'],
  ] as const)(
    '%s changes nothing, costs no more than one that succeeds, and the next one has it all',
    async (_how, fault, next) => {
      const scene = linearScene();
      const { linear, clock, poll, operationsOf, tracker } = scene;
      const [first = '', second = ''] = addMany(scene, 3);
      await poll();
      await clock.advance(10 * minuteMs);
      linear.updateIssue(first, { state: 'Done' });
      linear.faults.next.push(fault);
      const failed = await operationsOf(() => poll({ watched: [second] }).catch((error: unknown) => error));
      expect(failed).toEqual(['BatonChanges']);
      await clock.advance(10 * minuteMs);
      linear.addIssue();
      let found: readonly Issue[] = [];
      const operations = await operationsOf(async () => {
        found = (await poll({ watched: [second] })).issues;
      });
      expect(operations).toEqual([next]);
      expect(found).toEqual(await tracker.fetchByStates(['Todo', 'In Progress']));
    },
  );

  it('keeps nothing of the first of two requests when the second fails', async () => {
    const scene = linearScene();
    const { linear, clock, poll, tracker } = scene;
    const watched = addMany(scene, 20, 'In Review');
    const todo = addMany(scene, 3);
    const before = await poll({ watched });
    await clock.advance(10 * minuteMs);
    linear.updateIssue(todo[0] ?? '', { state: 'Done' });
    linear.faults.next.push({ kind: 'status', status: 500, operation: 'BatonIssuesById' });
    await expect(poll({ watched })).rejects.toMatchObject({ code: 'tracker_status' });
    await clock.advance(10 * minuteMs);
    const after = await poll({ watched });
    expect(after.issues).toEqual(await tracker.fetchByStates(['Todo']));
    expect(after.issues).not.toBe(before.issues);
  });

  it('keeps nothing when it is cancelled', async () => {
    const { linear, poll, tracker, clock } = linearScene();
    const { id } = linear.addIssue();
    await poll();
    await clock.advance(10 * minuteMs);
    linear.updateIssue(id, { title: 'New' });
    await expect(
      tracker.fetchSnapshot?.({ states: ['Todo'], watched: [] }, { signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');
    expect((await poll()).issues[0]?.title).toBe('New');
  });

  it('does not block the next poll, and two concurrent polls do not mix', async () => {
    const { linear, poll } = linearScene();
    const { id } = linear.addIssue();
    linear.faults.next.push({ kind: 'status', status: 500 });
    const [failed, first, second] = await Promise.allSettled([poll(), poll({ watched: [id] }), poll()]);
    expect([failed.status, first.status, second.status]).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(linear.counts()).toEqual({ BatonFullRead: 2, BatonChanges: 1 });
  });
});

describe('a poll that waits for another', () => {
  it('stops at once when it is cancelled, and the next one still waits', async () => {
    const slow = Promise.withResolvers<void>();
    const { linear, poll, tracker, clock } = linearScene({}, { wait: () => slow.promise });
    linear.addIssue();
    linear.faults.latencyMs = 1;
    const first = poll();
    const giveUp = new AbortController();
    const wish = { states: ['Todo'], watched: [] };
    const second = tracker.fetchSnapshot?.(wish, { signal: giveUp.signal });
    const third = poll();
    await clock.settle();
    giveUp.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    await clock.settle();
    expect(linear.requests).toHaveLength(1);
    slow.resolve();
    expect((await first).issues).toHaveLength(1);
    expect((await third).issues).toBe((await first).issues);
    expect(linear.counts()).toEqual({ BatonFullRead: 1, BatonChanges: 1 });
  });
});

describe('malformed records', () => {
  it('are left out of a poll and reported once, until their number changes', async () => {
    const scene = linearScene();
    const { linear, logger, poll } = scene;
    const [bad = '', worse = '', good = ''] = addMany(scene, 3);
    await poll();
    linear.faults.malformed.set(bad, malformations.nullTitle);
    linear.updateIssue(bad, { title: 'x' });
    expect(ids((await poll()).issues).toSorted()).toEqual([worse, good].toSorted());
    await poll();
    linear.faults.malformed.set(worse, malformations.nullNode);
    await poll();
    const warnings = logger.lines.filter(({ event }) => event === 'tracker_records_dropped');
    expect(warnings.map(({ fields }) => fields.count)).toEqual([1, 2]);
    linear.faults.malformed.clear();
    expect((await poll()).issues).toHaveLength(3);
  });
});
