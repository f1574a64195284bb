// @module-tag full
import { describe, expect, it } from 'vitest';
import { settings } from '../../fake/settings.ts';
import { linearScene } from '../../tracker/linear/linear-scene.ts';
import { begun, type SceneOptions } from '../scene.ts';
import { plan, second } from './planner-scene.ts';

const states = { todo: 'Todo', inProgress: 'In Progress', review: 'In Review', blocked: 'Backlog', done: null };

/** The orchestrator on a fake Linear, with a labelled issue whose planner runs. */
async function onLinear() {
  const place = linearScene();
  const all = settings({ intervalMs: 5 * second, agent: { maxConcurrentAgents: 5 } });
  const options: SceneOptions = {
    clock: place.clock,
    settings: {
      ...all,
      tracker: { ...all.tracker, ...place.settings, states, reviewStates: ['In Review'] },
      planner: { ...all.planner, enabled: true },
    },
    otherTracker: () => place.fresh(),
  };
  const parent = place.linear.addIssue({ state: 'Todo', labels: ['needs-planning'] });
  const stage = await begun(options);
  await stage.clock.advance(second);
  expect(stage.runs.map(({ request }) => request.role)).toEqual(['planner']);
  return { ...place, options, parent, stage };
}

describe('a plan on Linear', { timeout: 120_000 }, () => {
  // @conforms planner.3
  it('becomes sub-issues with relations; the parent waits, and returns when they are over', async () => {
    const { linear, parent, stage, tracker } = await onLinear();
    await plan(stage.runs[0]);
    stage.runs[0]?.succeed();
    await stage.clock.advance(10 * second);
    expect(linear.stateOf(parent.id)).toBe('Backlog');
    const parts = (await tracker.fetchChildren?.([parent.id]))?.get(parent.id) ?? [];
    expect(parts).toHaveLength(3);
    // Their text is an agent's, so it is noted as written by the run.
    const texts = await stage.store.runTexts.among(
      stage.project,
      'issue',
      parts.map(({ id }) => id ?? ''),
    );
    expect(texts.size).toBe(3);
    expect(stage.runs.slice(1).map(({ request }) => request.issue.title)).toEqual(['a']);
    for (const { id } of parts) linear.updateIssue(id ?? '', { state: 'Done' });
    stage.runs[1]?.end();
    await stage.clock.advance(400 * second);
    expect(stage.runs.at(-1)?.request).toMatchObject({ role: 'worker', issue: { id: parent.id } });
    expect(stage.runs.at(-1)?.request.parts).toHaveLength(3);
    expect(linear.complaints).toEqual([]);
  });

  // @conforms planner.3
  it.each(['BatonCreateChild', 'BatonCreateRelation', 'BatonMoveIssue'])(
    'is finished by the next daemon, without a part made twice, when the last answer to %s is lost',
    async (operation) => {
      for (const skip of operation === 'BatonMoveIssue' ? [0] : [0, 1, 2]) {
        const { linear, options, parent, stage, tracker } = await onLinear();
        linear.faults.next.push({ kind: 'cut', where: 'in_body', operation, skip });
        await expect(plan(stage.runs[0])).rejects.toMatchObject({ code: 'tracker_request' });
        stage.kill();
        const next = await begun({ ...options, store: stage.store });
        await next.clock.advance(120 * second);
        const parts = (await tracker.fetchChildren?.([parent.id]))?.get(parent.id) ?? [];
        expect(parts).toHaveLength(3);
        const [now] = await tracker.fetchByIds([parent.id]);
        expect([now?.state, now?.blockedBy]).toEqual(['Backlog', expect.objectContaining({ length: 3 })]);
        expect(next.runs.map(({ request }) => request.issue.title)).toEqual(['a']);
        expect(next.orchestrator.read().held).toEqual([]);
      }
    },
  );
});
