import { describe, expect, it } from 'vitest';
import { type LinearScene, linearScene } from './linear-scene.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

function addMany({ linear }: LinearScene, count: number, state = 'Todo'): string[] {
  return Array.from({ length: count }, () => linear.addIssue({ state }).id);
}

/** A project without recent changes. */
async function quietProject(issues: number, state = 'Todo'): Promise<LinearScene & { readonly all: string[] }> {
  const scene = linearScene();
  const all = addMany(scene, issues, state);
  if (state !== 'Todo') addMany(scene, 1);
  await scene.poll();
  for (let count = 0; count < 2; count += 1) {
    await scene.clock.advance(10 * minuteMs);
    await scene.poll();
  }
  expect(await scene.operationsOf(scene.poll)).toEqual(['BatonChanges']);
  scene.linear.forgetRequests();
  return { ...scene, all };
}

/** The cost of each poll in a period. */
async function costs({ clock, poll, operationsOf }: LinearScene, lastsMs: number, everyMs: number): Promise<number[]> {
  const each: number[] = [];
  for (let spentMs = 0; spentMs < lastsMs; spentMs += everyMs) {
    each.push((await operationsOf(poll)).length);
    await clock.advance(everyMs);
  }
  return each;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

describe('a large change', () => {
  // @conforms linear.12
  it('of 2,000 issues filed at once is read twice in four minutes, and every other poll costs one request', async () => {
    const scene = await quietProject(1);
    addMany(scene, 2_000);
    const spent = await costs(scene, 4 * minuteMs, 15 * secondMs);
    // A page of changes in two parts that was too small, then 41 pages of everything, and those again after two minutes.
    expect(spent.filter((each) => each !== 1)).toEqual([43, 41]);
    expect(spent.indexOf(41)).toBe(8);
    expect(sum(spent)).toBe(98);
    expect((await scene.poll()).issues).toHaveLength(2_001);
    expect(sum(await costs(scene, hourMs / 2, minuteMs))).toBe(30);
  });

  it('smaller than half a full read is read as changes, twice', async () => {
    const scene = await quietProject(800);
    for (const id of scene.all.slice(0, 280)) scene.linear.updateIssue(id, { title: 'Touched' });
    const spent = await costs(scene, 4 * minuteMs, 15 * secondMs);
    // The first page has ten places, the others forty; the second time the number of changes is known.
    expect(spent).toEqual([8, ...Array(7).fill(1), 7, ...Array(7).fill(1)]);
    expect(scene.linear.counts().BatonFullRead).toBeUndefined();
  });

  it('of finished issues leads to short full reads', async () => {
    const scene = await quietProject(2_000, 'Done');
    for (const id of scene.all) scene.linear.updateIssue(id, { title: 'Touched' });
    expect(await costs(scene, 4 * minuteMs, 15 * secondMs)).toEqual([3, ...Array(15).fill(1)]);
    expect(scene.linear.counts()).toMatchObject({ BatonFullRead: 2 });
  });

  it('that lasts ten minutes costs at most one full read every two minutes', async () => {
    const scene = await quietProject(1);
    const { clock, poll, operationsOf } = scene;
    let spent = 0;
    for (let count = 0; count < 40; count += 1) {
      addMany(scene, 50);
      const operations = await operationsOf(async () => {
        expect((await poll()).issues).toHaveLength(1 + 50 * (count + 1));
      });
      spent += operations.length;
      await clock.advance(15 * secondMs);
    }
    expect(scene.linear.counts().BatonFullRead).toBeLessThanOrEqual(10);
    expect(spent).toBeLessThanOrEqual(250);
    expect(sum(await costs(scene, 4 * minuteMs, 15 * secondMs))).toBeLessThanOrEqual(16 + 2 * 41);
  });

  it('hides no later change', async () => {
    const scene = await quietProject(1);
    const { linear, clock, poll } = scene;
    const many = addMany(scene, 200);
    await poll();
    for (let count = 0; count < 20; count += 1) {
      await clock.advance(10 * secondMs);
      linear.updateIssue(many[count] ?? '', { state: 'Done' });
      const fresh = linear.addIssue().id;
      const found = new Set((await poll()).issues.map(({ id }) => id));
      expect([found.has(many[count] ?? ''), found.has(fresh)]).toEqual([false, true]);
    }
  });

  it('lets late changes of Linear appear after two minutes', async () => {
    const scene = await quietProject(1);
    const { linear, clock, poll } = scene;
    const [late = ''] = addMany(scene, 200);
    await poll();
    await clock.advance(10 * secondMs);
    linear.updateIssue(late, { state: 'Done' });
    Object.assign(linear.issue(late), { updatedAt: clock.now() - 100 * secondMs });
    const isThere = async (): Promise<boolean> => (await poll()).issues.some(({ id }) => id === late);
    await clock.advance(109 * secondMs);
    expect(await isThere()).toBe(true);
    await clock.advance(secondMs);
    expect(await isThere()).toBe(false);
  });

  it('in the first poll of all is not read as changes within two minutes', async () => {
    const scene = linearScene();
    addMany(scene, 200);
    await scene.clock.advance(hourMs);
    const spent = await costs(scene, 4 * minuteMs, 15 * secondMs);
    expect(spent).toEqual([4, ...Array(7).fill(1), 4, ...Array(7).fill(1)]);
  });

  it('costs the same when each answer takes a while', async () => {
    const scene: LinearScene = linearScene({}, { wait: (ms) => scene.clock.advance(ms).then(() => {}) });
    const { linear, clock, poll } = scene;
    addMany(scene, 1);
    await poll();
    await clock.advance(10 * minuteMs);
    await poll();
    await clock.advance(14 * secondMs);
    addMany(scene, 500);
    await clock.advance(secondMs);
    linear.faults.latencyMs = 300;
    const spent = await costs(scene, 4 * minuteMs, 15 * secondMs);
    expect(spent.filter((each) => each !== 1)).toEqual([13, 11]);
  });
});
